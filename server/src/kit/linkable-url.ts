/**
 * Whether a page may show this URL as a link. An allow-list: http and https, and `scheme://…` (an app's own link, such as
 * `shop://done`) whose scheme has no meaning to browsers. An Android `intent:` URL is judged by where it may lead: its
 * fallback page, and the scheme of the app.
 *
 * A URL that parsers would rewrite first (white space, control characters, backslashes) is refused.
 */
export function isLinkableUrl(text: string): boolean {
  if (rewrittenByParsers.test(text) || !URL.canParse(text)) return false;
  const scheme = schemeOf(text);
  if (scheme === 'intent') return isSafeIntent(text);
  // Without the slashes `https:path` is a path on the page's own host.
  return isOpenScheme(scheme) && text.slice(scheme.length).startsWith('://');
}

/** Parsers silently drop or replace these, so that the URL that was checked would not be the one that is opened. */
export const rewrittenByParsers = /[\s\p{Cc}\\]/u;

function schemeOf(text: string): string {
  return text.slice(0, text.indexOf(':')).toLowerCase();
}

/** Whether it is http, https, or an app's scheme that no browser knows. */
function isOpenScheme(scheme: string): boolean {
  return !browserSchemes.has(scheme) && !browserPrefixes.some((prefix) => scheme.startsWith(prefix));
}

/**
 * `intent://path#Intent;scheme=shop;S.browser_fallback_url=https%3A%2F%2Fshop.gm%2F;end`, read as
 * `android.content.Intent.parseUri` does (names and values are percent-decoded, the last value of a name counts). Every
 * fallback must be an http or https URL and there must be one. It must name one scheme, no browser's: without a scheme
 * Android takes what stands behind `intent:` as the whole address, `intent:javascript:…`.
 */
function isSafeIntent(text: string): boolean {
  const start = text.lastIndexOf('#Intent;');
  if (start < 0 || !/^intent:\/\//i.test(text)) return false;
  const fields = text.slice(start).split(';').map(readField);
  const fallbacks = fields.filter(({ name }) => name === 'S.browser_fallback_url').map(({ value }) => value);
  const schemes = fields.filter(({ name }) => name === 'scheme').map(({ value }) => value.toLowerCase());
  return (
    fallbacks.length > 0 &&
    fallbacks.every((fallback) => /^https?:\/\//i.test(fallback) && isLinkableUrl(fallback)) &&
    schemes.length === 1 &&
    schemes.every(isOpenScheme)
  );
}

function readField(field: string): { name: string; value: string } {
  const equals = field.indexOf('=');
  if (equals < 0) return { name: decoded(field), value: '' };
  return { name: decoded(field.slice(0, equals)), value: decoded(field.slice(equals + 1)) };
}

/** Text that is not valid percent encoding stays as it is, and is then no web address. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Schemes that some browser handles itself (it runs, reads, shows or sends something), or passes to a site that registered
 * for it instead of to the app that is meant. Without http and https.
 *
 * @internal
 */
export const browserSchemes: ReadonlySet<string> = new Set([
  // WHATWG URL, "special schemes" (url.spec.whatwg.org/#special-scheme).
  ...['ftp', 'file', 'ws', 'wss'],
  // WHATWG Fetch, "local scheme" and "fetch scheme", and WHATWG HTML, "javascript: URLs".
  ...['about', 'blob', 'data', 'javascript'],
  // WHATWG HTML, "safelisted scheme": any site may register itself as their handler.
  ...[
    'bitcoin',
    'ftps',
    'geo',
    'im',
    'irc',
    'ircs',
    'magnet',
    'mailto',
    'matrix',
    'mms',
    'news',
    'nntp',
    'openpgp4fpr',
  ],
  ...['sftp', 'sip', 'sms', 'smsto', 'ssh', 'tel', 'urn', 'webcal', 'wtai', 'xmpp'],
  // IANA's registry of URI schemes: those that browsers read, or have read, themselves (iana.org/assignments/uri-schemes).
  ...['cid', 'content', 'dav', 'dict', 'feed', 'filesystem', 'gopher', 'imap', 'ipfs', 'ipns', 'jar', 'ldap', 'ldaps'],
  ...['mid', 'pop', 'res', 'resource', 'rtsp', 'shttp', 'sips', 'snews', 'telnet', 'tn3270', 'view-source', 'wais'],
  ...['wyciwyg'],
  // Scripts under other names, which old browsers run.
  ...['jscript', 'livescript', 'mocha', 'vbs', 'vbscript', 'wysiwyg'],
  // Chromium and its descendants: internal pages, extensions' packages, Android's and iOS' own addresses of the browser.
  ...['android-app', 'brave', 'devtools', 'edge', 'externalfile', 'fido', 'googlechrome', 'googlechromes'],
  ...['isolated-app', 'opera', 'quic-transport', 'uuid-in-package', 'vivaldi'],
  // Firefox: internal pages, icons and bookmarks.
  ...['cached-favicon', 'firefox', 'indexeddb', 'page-icon', 'pcast', 'place'],
  // iOS and Android: settings, calls, and what offers to install an app from anywhere.
  ...['android.resource', 'app-prefs', 'facetime', 'facetime-audio', 'prefs'],
  // Safari and macOS, Internet Explorer and Windows: the machine's files, settings, scripts and help.
  ...['afp', 'applescript', 'applewebdata', 'help', 'nfs', 'safari-extension', 'safari-resource'],
  ...['safari-web-extension', 'smb', 'webkit-fake-url', 'webcals', 'x-man-page'],
  ...['hcp', 'its', 'local', 'mhtml', 'microsoft-edge', 'mk', 'search', 'search-ms', 'shell'],
]);

/**
 * `chrome:`, `chrome-extension:` and their kin; Mozilla's; Microsoft's and Apple's, which open settings and tools; and the
 * prefixes under which sites and extensions register themselves (WHATWG HTML, "registerProtocolHandler"; MDN,
 * "protocol_handlers").
 */
const browserPrefixes = ['chrome', 'itms', 'moz-', 'ms-', 'x-apple', 'x-help', 'x-safari', 'web+', 'ext+'];
