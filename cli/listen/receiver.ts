import { UsageError } from '../../server/src/kit/command-line.ts';
import { assertUrlAllowed, UrlNotAllowedError } from '../../server/src/kit/outbound-guard.ts';

/** The address of a receiver, by the rules that the service has for one on a development server. Throws UsageError. */
export function readReceiver(text: string): string {
  try {
    return assertUrlAllowed(text, { allowPrivate: true, httpsOnly: false }).href;
  } catch (error) {
    if (!(error instanceof UrlNotAllowedError)) throw error;
    throw new UsageError(`--forward-to: ${error.message}`);
  }
}
