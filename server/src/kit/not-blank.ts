import { fieldError } from './app-error.ts';

/** A text of spaces tells nobody anything. Answers it as it was sent; throws AppError `invalid_request` naming `path`. */
export function notBlank(text: string, path: string): string {
  if (text.trim() === '') throw fieldError('invalid_request', path, `${path} must not be empty.`);
  return text;
}
