import { assertUrlAllowed, UrlNotAllowedError, type OutboundPolicy } from '../kit/outbound-guard.ts';
import { fieldError } from './app-error.ts';

/** docs/api.md, "URLs": a development server may call private addresses; in live on a production server only https is called. */
export function outboundPolicy(environment: { production: boolean; testMode: boolean }): OutboundPolicy {
  return {
    allowPrivate: !environment.production,
    httpsOnly: environment.production && !environment.testMode,
  };
}

/** Throws AppError `url_not_allowed` naming `path` for an address that the service does not call. */
export function checkCallbackUrl(policy: OutboundPolicy, path: string, url: string): void {
  try {
    assertUrlAllowed(url, policy);
  } catch (error) {
    if (error instanceof UrlNotAllowedError) throw fieldError('url_not_allowed', path, error.message);
    throw error;
  }
}
