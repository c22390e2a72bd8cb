/** What `package-lock.json` says of a package. */
interface LockedPackage {
  version?: string;
  resolved?: string;
  integrity?: string;
  dev?: boolean;
  optional?: boolean;
  link?: boolean;
  hasInstallScript?: boolean;
}

export interface Lockfile {
  packages: Readonly<Record<string, LockedPackage>>;
}

/** More would be more than anybody reads when one of them is hijacked. */
const runtimePackagesMax = 250;

/**
 * What of the lockfile lets a package in that nobody chose: a sentence for each. Without a hash are only packages for other platforms
 * that development alone would install (tools/complete-lockfile.ts). `allowScripts` of package.json names the packages that may
 * run a program when they are installed, and those whose program npm is to leave out.
 */
export function findLockfileFaults({ packages }: Lockfile, allowScripts: Readonly<Record<string, boolean>>): string[] {
  const locked = Object.entries(packages).filter(([location]) => location !== '');
  const faults = locked.flatMap(([location, entry]) => faultsOf(location, entry, allowScripts));
  const runtime = locked.filter(([, { dev }]) => dev !== true).length;
  if (runtime > runtimePackagesMax)
    faults.push(`${runtime} packages run in production, more than ${runtimePackagesMax}`);
  return faults;
}

function faultsOf(location: string, entry: LockedPackage, allowScripts: Readonly<Record<string, boolean>>): string[] {
  const name = nameOf(location);
  const { version = '', resolved, integrity, dev = false, optional = false, link = false, hasInstallScript } = entry;
  const faults: string[] = [];
  if (link || !/^\d+\.\d+\.\d+(?:-[\w.-]+)?(?:\+[\w.-]+)?$/.test(version)) faults.push('is no version of the registry');
  if (resolved !== undefined && !resolved.startsWith('https://registry.npmjs.org/'))
    faults.push(`comes from ${resolved}`);
  if (integrity === undefined ? !(dev && optional) : !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity)) {
    faults.push('has no SHA-512 hash');
  }
  if (hasInstallScript === true && !(name in allowScripts)) faults.push('runs a program when it is installed');
  return faults.map((fault) => `${name} ${fault}`);
}

function nameOf(location: string): string {
  return location.slice(location.lastIndexOf('node_modules/') + 'node_modules/'.length);
}
