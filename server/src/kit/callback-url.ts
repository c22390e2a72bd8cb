import { fieldError } from './app-error.ts';
import { assertUrlAllowed, UrlNotAllowedError } from './outbound-guard.ts';
import type { OutboundPolicy } from './outbound-guard.ts';

export const urlLengthMax = 2_048;

/** Throws AppError `url_not_allowed` naming `path` for an address that we would not call. */
export function checkCallbackUrl(policy: OutboundPolicy, path: string, url: string): void {
  if (url.length > urlLengthMax) {
    throw fieldError('url_not_allowed', path, `A URL has at most ${urlLengthMax} characters.`);
  }
  try {
    assertUrlAllowed(url, policy);
  } catch (error) {
    if (error instanceof UrlNotAllowedError) throw fieldError('url_not_allowed', path, error.message);
    throw error;
  }
}
