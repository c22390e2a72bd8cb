/** The same URL with another database, user or password; what is left out stays. */
export function changeConnectionUrl(
  url: string,
  change: { database?: string; user?: string; password?: string },
): string {
  const changed = new URL(url);
  if (change.database !== undefined) changed.pathname = `/${encodeURIComponent(change.database)}`;
  for (const [part, value] of [
    ['user', change.user],
    ['password', change.password],
  ] as const) {
    if (value === undefined) continue;
    // A URL without a host (a socket given as `?host=`) cannot hold a user either; both go into the query.
    if (changed.hostname === '' || changed.searchParams.has(part)) changed.searchParams.set(part, value);
    else if (part === 'user') changed.username = encodeURIComponent(value);
    else changed.password = encodeURIComponent(value);
  }
  return changed.href;
}

/** The decoded password of a connection URL. */
export function passwordOf(url: string): string | undefined {
  const parsed = new URL(url);
  return parsed.searchParams.get('password') ?? (decodeURIComponent(parsed.password) || undefined);
}

/** The role that a connection URL connects as. */
export function userOf(url: string): string {
  const parsed = new URL(url);
  return parsed.searchParams.get('user') ?? decodeURIComponent(parsed.username);
}

/** The database of a connection URL; PostgreSQL's default is the one with the role's name. */
export function databaseOf(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1)) || userOf(url);
}

const legacyTlsModes = ['prefer', 'require', 'verify-ca'];

/**
 * The driver treats these modes of libpq as `verify-full`, and warns on stderr that a later version will not. An explicit
 * `verify-full` keeps the behaviour without the warning.
 */
export function withExplicitTls(url: string): string {
  const parsed = new URL(url);
  const mode = parsed.searchParams.get('sslmode');
  if (mode === null || !legacyTlsModes.includes(mode) || parsed.searchParams.has('uselibpqcompat')) return url;
  parsed.searchParams.set('sslmode', 'verify-full');
  return parsed.href;
}
