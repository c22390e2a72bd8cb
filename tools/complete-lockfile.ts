import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Puts into package-lock.json the optional packages of other platforms that npm left out because the registry at hand
 * does not carry them: `npm ci` refuses a lock without them (npm/cli issue 9846). They have no integrity, because they
 * could not be fetched; on Linux none of them is installed. Run after every change of dependencies.
 */
interface LockEntry {
  version?: string;
  dev?: boolean;
  license?: string;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

const systems = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'];
const processors = ['arm64', 'x64', 'ia32', 'ppc64', 'riscv64', 's390x', 'arm'];

const path = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(path, 'utf8')) as { packages: Record<string, LockEntry> };
const added = Object.entries(lock.packages).flatMap(([location, entry]) => missingPackages(location, entry));
for (const [location, entry] of added) lock.packages[location] = entry;
const sortedPackages = Object.entries(lock.packages).toSorted(([left], [right]) => left.localeCompare(right, 'en'));
writeFileSync(path, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sortedPackages) }, null, 2)}\n`);
process.stdout.write(`package-lock.json: ${added.length} packages of other platforms added.\n`);

function missingPackages(location: string, entry: LockEntry): [string, LockEntry][] {
  return Object.entries(entry.optionalDependencies ?? {}).flatMap(([name, version]) => {
    const candidates = [`${location}/node_modules/${name}`.replace(/^\//, ''), `node_modules/${name}`];
    return candidates.some((candidate) => candidate in lock.packages)
      ? []
      : [[`node_modules/${name}`, platformEntry(name, version, entry)] satisfies [string, LockEntry]];
  });
}

/** What these packages run on stands in their names: `…-linux-arm64-musl`. */
function platformEntry(name: string, version: string, parent: LockEntry): LockEntry {
  const nameParts = name.split(/[/-]/);
  const os = systems.find((system) => nameParts.includes(system));
  const cpu = processors.find((processor) =>
    nameParts.some((word) => word === processor || word.startsWith(`${processor}_`)),
  );
  if (os === undefined) throw new Error(`the platform of ${name} cannot be read from its name`);
  const libc = name.includes('-gnu') ? 'glibc' : 'musl';
  return {
    version,
    ...(cpu === undefined ? {} : { cpu: [cpu] }),
    ...(parent.dev === undefined ? {} : { dev: parent.dev }),
    ...(os === 'linux' && /-(gnu|musl)/.test(name) ? { libc: [libc] } : {}),
    ...(parent.license === undefined ? {} : { license: parent.license }),
    optional: true,
    os: [os],
  };
}
