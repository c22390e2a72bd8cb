import assert from 'node:assert/strict';

const policy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; manifest-src 'self'; connect-src 'self'; " +
  "form-action 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'";

const headersOfEach = {
  'content-security-policy': policy,
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/**
 * Every response behind a sign-in, whatever it is, stays in no cache, is framed by nobody (clickjacking), loads nothing from
 * elsewhere, and leads to no other site (open redirect).
 */
export function assertGuarded({ headers }: Response, what: string): void {
  for (const [name, value] of Object.entries(headersOfEach)) assert.equal(headers.get(name), value, `${what}: ${name}`);
  const location = headers.get('location');
  if (location !== null) assert.match(location, /^\/(?:dashboard|operator)(?:\/(?!\/)|\?|$)/, what);
}

/** No cell of a file looks like a formula to a spreadsheet; amounts below zero are numbers. Returns how many cells hold texts of people. */
export function assertSafeCsv(file: string, what: string): number {
  const cells = [...file.matchAll(/(?:^|,|\r\n)(?:"((?:[^"]|"")*)"|([^",\r\n]*))/g)].map(
    ([, quoted, plain = '']) => quoted ?? plain,
  );
  for (const cell of cells) assert.doesNotMatch(cell, /^(?:\s*[=+@\uff1d-](?!\d+\.\d\d$)|[\t\r\0])/, what);
  return cells.filter((cell) => /^'[=+@-]/.test(cell)).length;
}
