import { fieldError } from '../api/app-error.ts';
import { checkCallbackUrl } from '../api/urls.ts';
import { isLinkableUrl } from '../kit/linkable-url.ts';
import { urlLengthMax, type OutboundPolicy } from '../kit/outbound-guard.ts';

/** Schemes that run or read something in the payer's browser; refused even with `skip_url_validation`. */
const dangerousSchemes = new Set(['javascript:', 'data:', 'vbscript:', 'file:', 'blob:', 'about:', 'view-source:']);

export interface PaymentUrls {
  returnUrl: string | null;
  cancelUrl: string | null;
  callbackUrl: string | null;
  skipUrlValidation: boolean;
}

/**
 * Throws AppError `url_not_allowed` naming the field. With `skip_url_validation` URLs are stored as they are, so that the
 * payer can return to an app (`shop://done`); what could harm the payer is refused all the same. The address that the
 * callback's name resolves to is checked on each connection.
 */
export function checkUrls(policy: OutboundPolicy, urls: PaymentUrls): void {
  const fields = [
    { path: 'data.return_url', url: urls.returnUrl, check: checkBrowserUrl },
    { path: 'data.cancel_url', url: urls.cancelUrl, check: checkBrowserUrl },
    { path: 'data.callback_url', url: urls.callbackUrl, check: checkCallbackUrl },
  ] as const;
  for (const { path, url, check } of fields) {
    if (url === null) continue;
    refuseHarmful(path, url);
    if (!urls.skipUrlValidation) check(policy, path, url);
  }
}

/** Checks the address of a shop's page, where payers are sent, by the rules of return URLs. */
export function checkPageUrl(policy: OutboundPolicy, { path, url }: { path: string; url: string }): void {
  refuseHarmful(path, url);
  checkBrowserUrl(policy, path, url);
}

/**
 * Where the payer returns to: with `parameters` added if a page may link it, else as it was stored, which the page shows as
 * text. What the shop's query says besides stays as it was written, because the shop may have signed it, and an app may not
 * read `+` as a space.
 */
export function returnLink(url: string | null, parameters: Readonly<Record<string, string>>): string | null {
  if (url === null || !isLinkableUrl(url)) return url;
  const link = new URL(url);
  const names = Object.keys(parameters);
  const isOurs = (pair: string) => names.some((name) => new URLSearchParams(pair).has(name));
  const own =
    link.search === ''
      ? []
      : link.search
          .slice(1)
          .split('&')
          .filter((pair) => !isOurs(pair));
  link.search = `?${[...own, new URLSearchParams(parameters)].join('&')}`;
  return link.href;
}

/** The payer's browser goes there, not this service: any port is allowed, and the host of this service too. */
function checkBrowserUrl(policy: OutboundPolicy, path: string, url: string): void {
  checkCallbackUrl({ ...policy, refusedNames: [], anyPort: true }, path, url);
}

function refuseHarmful(path: string, url: string): void {
  if (url.length > urlLengthMax) throw notAllowed(path, `A URL has at most ${urlLengthMax} characters.`);
  if (dangerousSchemes.has(schemeOf(url))) throw notAllowed(path, 'Use an http or https address, or an app link.');
}

function notAllowed(path: string, message: string): Error {
  return fieldError('url_not_allowed', path, message);
}

/** As a browser reads it: white space and control characters before and inside the scheme are ignored. */
function schemeOf(url: string): string {
  // oxlint-disable-next-line no-control-regex -- browsers ignore exactly these characters
  const text = url.replaceAll(/[\u0000-\u0020\u007f]/g, '').toLowerCase();
  return URL.canParse(text) ? new URL(text).protocol : (/^[a-z][a-z0-9+.-]*:/.exec(text)?.[0] ?? '');
}
