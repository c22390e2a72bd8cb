import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { Clock } from './clock.ts';
import { RecentCopy } from './recent-copy.ts';

type Hosts = ReadonlyMap<string, readonly string[]>;

const systemHostsFile = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts';

/** The names that this machine's operator has written down. A change is noticed within a second. */
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

  /** The addresses of a name in small letters; undefined when it is not in the file, or there is no file. */
  async find(name: string): Promise<readonly string[] | undefined> {
    return (await this.#copy.read(this.#clock, () => this.#load())).get(name);
  }

  /** Lists that block advertisers have a hundred thousand lines: they are read again only when they have changed. */
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
    // One with a zone (`fe80::1%lo0 localhost`) belongs to a link and is not called.
    if (isIP(address) === 0 || address.includes('%')) continue;
    for (const name of names) {
      const known = hosts.get(name.toLowerCase());
      if (known) known.push(address);
      else hosts.set(name.toLowerCase(), [address]);
    }
  }
  return hosts;
}
