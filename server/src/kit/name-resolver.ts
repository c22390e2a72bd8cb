import { lookup, Resolver } from 'node:dns/promises';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { Clock } from './clock.ts';
import { ExpiringCache } from './expiring-cache.ts';
import { RecentCopy } from './recent-copy.ts';

type Hosts = ReadonlyMap<string, readonly string[]>;

const systemHostsFile = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts';

/** The operating system's hosts file. A change is noticed within a second. */
export class HostsFile {
  readonly #clock: Clock;
  readonly #path: string;
  readonly #copy = new RecentCopy<Hosts>();
  #version = '';
  #hosts: Hosts = new Map();

  constructor(clock: Clock, path: string = systemHostsFile) {
    this.#clock = clock;
    this.#path = path;
  }

  /** The addresses of a lower-case name; undefined when it is not in the file, or there is no file. */
  async find(name: string): Promise<readonly string[] | undefined> {
    return (await this.#copy.read(this.#clock, () => this.#load())).get(name);
  }

  /** Ad-blocking hosts files have a hundred thousand lines: the file is read again only after a change. */
  async #load(): Promise<Hosts> {
    try {
      const { mtimeMs, size } = await stat(this.#path);
      const version = `${mtimeMs} ${size}`;
      if (version !== this.#version) {
        this.#hosts = parseHosts(await readFile(this.#path, 'utf8'));
        this.#version = version;
      }
    } catch {
      this.#hosts = new Map();
      this.#version = '';
    }
    return this.#hosts;
  }
}

/** hosts(5): an address and its names on each line, in any case, up to a `#`. */
function parseHosts(text: string): Hosts {
  const hosts = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    // An address with a zone (`fe80::1%lo0 localhost`) is link-local and not usable here.
    if (isIP(address) === 0 || address.includes('%')) continue;
    for (const name of names) {
      const known = hosts.get(name.toLowerCase());
      if (known) known.push(address);
      else hosts.set(name.toLowerCase(), [address]);
    }
  }
  return hosts;
}

/** A name's addresses; rejects when it has none. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

export interface NameResolverOptions {
  clock: Clock;
  /** Name servers (`127.0.0.1:5353`), for tests. Default: those of the operating system. */
  nameServers?: () => readonly string[];
  /** For tests. Default: the operating system's. */
  hostsFile?: string;
}

/**
 * About five seconds in all, the time limit of a connection. Each try waits twice as long as the one before, and the first
 * only 250 ms where the name server has been quick so far: c-ares goes by what it has measured (nodejs/node#57839), so fewer
 * tries would give up within a second.
 */
const resolverOptions = { timeout: 1_000, maxTimeout: 1_500, tries: 4 };
// A resolver reads the system's name servers once, and a machine that changes networks changes them.
const resolverLifetimeMs = 30_000;
// RFC 9520 demands at least a second, so that thousands of requests to one dead name are not as many queries.
const failureLifetimeMs = 5_000;
const failuresMax = 10_000;
// Some name servers do not respond to IPv6 queries. RFC 8305 waits 50 ms for them; more is affordable here.
const otherFamilyMs = 500;

/**
 * Resolves names that somebody else chose, without threads. The operating system's resolver holds one of the process's few
 * threads for as long as a name server stays silent, and the look-ups of the database's host need the same threads.
 *
 * The hosts file comes first, then `localhost` (RFC 6761), then the name servers; there are no search domains and no multicast
 * for `.local`. Concurrent look-ups of a name share one query, and one that failed is not repeated for five seconds. Rejects
 * with `ENOTFOUND` when the name has no address, and with `EAI_AGAIN` when no name server gave a usable response.
 */
export function createNameResolver({ clock, nameServers, hostsFile }: NameResolverOptions): ResolveName {
  const hosts = new HostsFile(clock, hostsFile);
  const resolverNow = renewedResolver(clock, nameServers);
  const failures = new ExpiringCache<Error>({ clock, entriesMax: failuresMax, lifetimeMs: failureLifetimeMs });
  const inFlight = new Map<string, Promise<readonly string[]>>();

  async function resolve(name: string): Promise<readonly string[]> {
    const known = (await hosts.find(name)) ?? (isLocalhost(name) ? loopback : undefined);
    if (known) return known;
    let addresses: readonly string[] = [];
    const failure = await failures.get(name, async () => {
      const result = await queryAddresses(resolverNow(), name, clock);
      if (result instanceof Error) return result;
      addresses = result;
      return undefined;
    });
    if (failure) throw failure;
    return addresses;
  }

  return (hostname) => {
    const name = hostname.toLowerCase().replace(/\.$/, '');
    const current = inFlight.get(name);
    if (current) return current;
    const pending = resolve(name).finally(() => inFlight.delete(name));
    inFlight.set(name, pending);
    return pending;
  };
}

/**
 * Resolves names that the operator chose, by every means of this machine: search domains, multicast, directories. It uses the
 * process's threads, so never for a name that anybody else can choose.
 */
export const resolveBySystem: ResolveName = async (name) =>
  (await lookup(name, { all: true })).map(({ address }) => address);

const loopback = ['127.0.0.1', '::1'];

function isLocalhost(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost');
}

function renewedResolver(clock: Clock, nameServers: NameResolverOptions['nameServers']): () => Resolver {
  let current: { resolver: Resolver; madeAtMs: number } | null = null;
  return () => {
    const nowMs = clock.now().getTime();
    const ageMs = nowMs - (current?.madeAtMs ?? -Infinity);
    // After the clock is set back, one must not be used for longer. Queries under way end with their own resolver.
    if (current && ageMs >= 0 && ageMs < resolverLifetimeMs) return current.resolver;
    const resolver = new Resolver(resolverOptions);
    if (nameServers) resolver.setServers(nameServers());
    current = { resolver, madeAtMs: nowMs };
    return resolver;
  };
}

/** The addresses of both families, IPv4 first; of one, when there is no response about the other in time. */
async function queryAddresses(resolver: Resolver, name: string, clock: Clock): Promise<readonly string[] | Error> {
  const found: string[][] = [];
  const failures: unknown[] = [];
  const queries = [resolver.resolve4(name), resolver.resolve6(name)].map((query, family) =>
    query.then(
      (addresses) => (found[family] = addresses),
      (error: NodeJS.ErrnoException) => failures.push(error.code),
    ),
  );
  const both = Promise.all(queries);
  const finished = new AbortController();
  const soonAfter = async (query: Promise<unknown>): Promise<unknown> => {
    await query;
    return found.length > 0 ? clock.sleep(otherFamilyMs, finished.signal) : both;
  };
  await Promise.race([both, ...queries.map(soonAfter)]);
  finished.abort();
  const addresses = found.flat();
  return addresses.length > 0 ? addresses : noAddress(failures);
}

// These say for certain that there is no address; all others are name servers without a usable response.
const definite = new Set<unknown>(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

function noAddress(failures: readonly unknown[]): NodeJS.ErrnoException {
  return failures.every((code) => definite.has(code))
    ? Object.assign(new Error('The name has no address.'), { code: 'ENOTFOUND' })
    : Object.assign(new Error('No name server answered.'), { code: 'EAI_AGAIN' });
}
