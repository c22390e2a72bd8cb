import { hashOfScript } from './released-scripts.ts';

/** What a page has that is not of the release. */
export interface ScriptFinding {
  page: string;
  what: string;
}

export interface ComparedPage {
  scripts: number;
  findings: ScriptFinding[];
}

const timeoutMs = 10_000;
const element = /<script\b([^>]*)>([\s\S]*?)<\/script\s*>/gi;
const address = /\bsrc\s*=\s*["']?([^"'\s>]+)/i;

/** Fetches a page as a browser gets it, with its scripts, and compares each and what the policy allows with the release. */
export async function compareScripts(page: URL, released: ReadonlySet<string>): Promise<ComparedPage> {
  const response = await download(page);
  const text = await response.text();
  const problems = problemsOfPolicy(response.headers.get('content-security-policy'), released);
  // Also of a page that leads elsewhere: an address of ours must not.
  const { origin } = new URL(response.url);
  if (origin !== page.origin) problems.push(`it leads to ${origin}`);
  const found = [...text.matchAll(element)];
  if (found.length !== (text.match(/<script\b/gi) ?? []).length) problems.push('a script has no end');
  for (const [, attributes = '', inline = ''] of found) {
    const source = address.exec(attributes)?.[1];
    const problem =
      source === undefined ? problemOfText(inline, released) : await problemOfFile(source, page, released);
    if (problem !== null) problems.push(problem);
  }
  return { scripts: found.length, findings: problems.map((what) => ({ page: page.pathname, what })) };
}

function download(url: URL): Promise<Response> {
  // oxlint-disable-next-line no-restricted-globals -- the operator names the server, which may well be on a private address
  return fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
}

function problemOfText(text: string, released: ReadonlySet<string>): string | null {
  const hash = hashOfScript(text);
  return released.has(hash) ? null : `an inline script is not of this release: ${hash}`;
}

async function problemOfFile(source: string, page: URL, released: ReadonlySet<string>): Promise<string | null> {
  const file = new URL(source, page);
  if (file.origin !== page.origin) return `a script is loaded from ${file.origin}`;
  const response = await download(file);
  const hash = hashOfScript(new Uint8Array(await response.arrayBuffer()));
  return released.has(hash) ? null : `${file.pathname} is not of this release: ${hash}`;
}

/** A policy keeps what is in attributes, and what a script adds, from running; so it may allow only our own scripts. */
function problemsOfPolicy(policy: string | null, released: ReadonlySet<string>): string[] {
  if (policy === null) return ['it has no content security policy'];
  // A browser takes the first of two directives of a name.
  const directives = new Map(
    policy
      .split(';')
      .map((directive) => directive.trim().split(/\s+/))
      .map(([name = '', ...sources]) => [name.toLowerCase(), sources] as const)
      .toReversed(),
  );
  const sources = directives.get('script-src') ?? directives.get('default-src');
  if (sources === undefined) return ['its policy allows every script'];
  return ['script-src', 'script-src-elem', 'script-src-attr']
    .flatMap((name) => (name === 'script-src' ? sources : (directives.get(name) ?? [])))
    .filter((source) => source !== "'none'" && source !== "'self'" && !released.has(source.slice(1, -1)))
    .map((source) => `its policy allows scripts of ${source}`);
}
