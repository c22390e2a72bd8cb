/** The methods that the routes of a server accept, by path, so that a wrong method is answered with 405 instead of 404. */
export class RouteMethods {
  readonly #byPattern = new Map<string, Set<string>>();

  /** A route as Fastify's hook `onRoute` reports it. One that accepts GET accepts HEAD too. */
  add({ url, method, prefix = '' }: { url: string; method: string | readonly string[]; prefix?: string }): void {
    // A scope's own route is also served with a slash at its end.
    for (const pattern of url === prefix ? [url, `${url}/`] : [url]) {
      const known = this.#byPattern.get(pattern) ?? new Set();
      for (const each of [method].flat()) known.add(each);
      if (known.has('GET')) known.add('HEAD');
      this.#byPattern.set(pattern, known);
    }
  }

  /** The methods of the routes at a URL, whose query is ignored; empty at an unknown address. */
  at(url: string): string[] {
    const segments = pathOf(url).split('/');
    const methods = [...this.#byPattern].flatMap(([pattern, known]) => (matches(pattern, segments) ? [...known] : []));
    return [...new Set(methods)].toSorted();
  }
}

/** A URL's path as it was sent. */
export function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? url;
}

function matches(pattern: string, segments: readonly string[]): boolean {
  const parts = pattern.split('/');
  return parts.length === segments.length && parts.every((part, index) => matchesPart(part, segments[index] ?? ''));
}

/** `:id` is any segment, `:environment(test|live)` one of these words. */
function matchesPart(part: string, segment: string): boolean {
  if (!part.startsWith(':')) return part === segment;
  const [, words] = /\((.+)\)$/.exec(part) ?? [];
  return words === undefined ? segment !== '' : words.split('|').includes(segment);
}
