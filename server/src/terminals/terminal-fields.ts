import { fieldError } from '../kit/app-error.ts';

/** A name of spaces tells nobody anything. Throws AppError `invalid_request` naming `name`. */
export function readName(name: string): string {
  if (name.trim() === '') throw fieldError('invalid_request', 'name', 'name must not be empty.');
  return name;
}
