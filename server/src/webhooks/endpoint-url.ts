import { fieldError } from '../kit/app-error.ts';
import { assertUrlAllowed, UrlNotAllowedError } from '../kit/outbound-guard.ts';
import type { OutboundPolicy } from '../kit/outbound-guard.ts';

/** Throws AppError `url_not_allowed` on the field `url`. */
export function checkEndpointUrl(url: string, policy: OutboundPolicy): void {
  try {
    assertUrlAllowed(url, policy);
  } catch (error) {
    if (error instanceof UrlNotAllowedError) throw fieldError('url_not_allowed', 'url', error.message);
    throw error;
  }
}

/** Whether two URLs lead to the same place, however they are written. */
export function isSameUrl(one: string, other: string): boolean {
  return one === other || (URL.parse(one)?.href ?? one) === (URL.parse(other)?.href ?? other);
}
