import { hashOfScript, readReleasedScripts } from './released-scripts.ts';

/** What a page has that is not of the release. */
export interface ScriptFinding {
  page: string;
  what: string;
}

interface ComparedPage {
  scripts: number;
  findings: ScriptFinding[];
}

interface ComparedPages extends ComparedPage {
  isRight: boolean;
  pages: readonly string[];
}

// What everybody can open: the entrance of each part that has scripts, and a page of the payers' that is not found.
const openPages = ['/dashboard/sign-in', '/operator/sign-in', '/pos', '/pay/not-found'];

const timeoutMs = 10_000;
const element = /<script\b([^>]*)>([\s\S]*?)<\/script\s*>/gi;
const address = /\bsrc\s*=\s*["']?([^"'\s>]+)/i;

/** Compares the pages that everybody can open, and `more`, with this release. Rejects where the server does not respond. */
export async function comparePages(
  url: string,
  { more = [], signal }: { more?: readonly string[]; signal?: AbortSignal } = {},
): Promise<ComparedPages> {
  const released = await readReleasedScripts();
  const pages = [...openPages, ...more];
  const compared = await Promise.all(pages.map((path) => compareScripts(new URL(path, url), released, signal)));
  const findings = compared.flatMap((each) => each.findings);
  const scripts = compared.reduce((sum, each) => sum + each.scripts, 0);
  return { isRight: findings.length === 0 && scripts > 0, pages, scripts, findings };
}

/** Fetches a page as a browser gets it, with its scripts, and compares each and what the policy allows with the release. */
async function compareScripts(
  page: URL,
  released: ReadonlySet<string>,
  signal: AbortSignal | undefined,
): Promise<ComparedPage> {
  const fetched = (url: URL): Promise<Response> => download(url, signal);
  const response = await fetched(page);
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
      source === undefined
        ? problemOfText(inline, released)
        : await problemOfFile(new URL(source, page), { page, released, fetched });
    if (problem !== null) problems.push(problem);
  }
  return { scripts: found.length, findings: problems.map((what) => ({ page: page.pathname, what })) };
}

function download(url: URL, signal: AbortSignal | undefined): Promise<Response> {
  const timeout = AbortSignal.timeout(timeoutMs);
  // oxlint-disable-next-line no-restricted-globals -- the operator names the server, which may well be on a private address
  return fetch(url, { signal: signal ? AbortSignal.any([signal, timeout]) : timeout });
}

function problemOfText(text: string, released: ReadonlySet<string>): string | null {
  const hash = hashOfScript(text);
  return released.has(hash) ? null : `an inline script is not of this release: ${hash}`;
}

async function problemOfFile(
  file: URL,
  at: { page: URL; released: ReadonlySet<string>; fetched: (url: URL) => Promise<Response> },
): Promise<string | null> {
  const { page, released, fetched } = at;
  if (file.origin !== page.origin) return `a script is loaded from ${file.origin}`;
  const response = await fetched(file);
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
