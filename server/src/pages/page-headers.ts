export interface PageHeaderOptions {
  /** Where the service is reached from outside; decides whether browsers are told to use https only. */
  publicUrl: string;
  /** What the content security policy allows as styles: `'sha256-…'` of an inline piece, or `'self'`. */
  styleSources?: readonly string[];
  scriptSources?: readonly string[];
}

// Checks, H1: at least a year.
const strictTransportSeconds = 365 * 24 * 3600;

/**
 * The headers of every HTML answer (checks, H1 and H9). Nothing is loaded from anywhere but this page and this host,
 * nobody may frame it, and its address, which holds the payment's token, travels in no Referer.
 */
export function pageHeaders(options: PageHeaderOptions): Record<string, string> {
  const policy = [
    `default-src 'none'`,
    ...directive('style-src', options.styleSources),
    ...directive('script-src', options.scriptSources),
    // The only picture is the icon in the page itself.
    `img-src 'self' data:`,
    `connect-src 'self'`,
    `form-action 'self'`,
    `object-src 'none'`,
    `base-uri 'none'`,
    `frame-ancestors 'none'`,
  ];
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'x-robots-tag': 'noindex',
    ...(new URL(options.publicUrl).protocol === 'https:'
      ? { 'strict-transport-security': `max-age=${strictTransportSeconds}` }
      : {}),
  };
}

function directive(name: string, sources: readonly string[] | undefined): string[] {
  return sources === undefined || sources.length === 0 ? [] : [`${name} ${sources.join(' ')}`];
}
