import { readFileSync, realpathSync, statSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { StartError } from '../../kit/start-error.ts';

/** The operating system's account that the database server runs as. */
export interface ServerAccount {
  name: string;
  uid: number;
  gid: number;
}

// PostgreSQL refuses to run as root, so root runs it as the first of these that the system has.
const preferredNames = ['postgres', 'nobody'];

/**
 * The account to run the server as: undefined for the process's own; for root, the owner of the cluster, else `postgres` or
 * `nobody`.
 *
 * @throws StartError when root has no account to run it as, or the cluster belongs to somebody else.
 */
export function findServerAccount(clusterDirectory: string, accountsFile = '/etc/passwd'): ServerAccount | undefined {
  const ownUid = process.geteuid?.();
  if (ownUid === undefined) return undefined;
  const ownerUid = statIfThere(clusterDirectory)?.uid;
  if (ownUid !== 0) {
    if (ownerUid === undefined || ownerUid === ownUid) return undefined;
    throw new StartError(
      `The database in ${clusterDirectory} belongs to another user (uid ${ownerUid}); start as that user or as root, or set DATA_DIR to another directory.`,
    );
  }
  const accounts = readAccounts(accountsFile);
  const owner = accounts.find((account) => account.uid === ownerUid && account.uid !== 0);
  const preferred = preferredNames.map((name) => accounts.find((account) => account.name === name));
  const found = owner ?? preferred.find((account) => account !== undefined);
  if (found) return found;
  throw new StartError(
    'PostgreSQL does not run as root and this system has no user postgres or nobody; start as an ordinary user, or set DATABASE_URL.',
  );
}

/** The first directory on the way to `path`, or `path` itself, that the account may not enter. */
export function findClosedDirectory(path: string, account: ServerAccount): string | undefined {
  const parents: string[] = [];
  for (let directory = realpathSync(path); ; directory = dirname(directory)) {
    parents.unshift(directory);
    if (directory === dirname(directory)) break;
  }
  return parents.find((directory) => !isAllowed(statSync(directory), account, 0o1));
}

/** Whether the file's mode allows the account `bits` (4 read, 2 write, 1 enter or execute). */
export function isAllowed(stats: Stats, account: ServerAccount, bits: number): boolean {
  // Supplementary groups do not count: they are dropped when the server is started.
  return ((stats.mode >> permissionShift(stats, account)) & bits) === bits;
}

/** The mode's three digits: the owner's, the group's, everybody else's. */
function permissionShift(stats: Stats, account: ServerAccount): number {
  if (stats.uid === account.uid) return 6;
  return stats.gid === account.gid ? 3 : 0;
}

function readAccounts(accountsFile: string): ServerAccount[] {
  let text: string;
  try {
    text = readFileSync(accountsFile, 'utf8');
  } catch {
    return [];
  }
  return text.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    return name && uid && gid ? [{ name, uid: Number(uid), gid: Number(gid) }] : [];
  });
}

function statIfThere(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}
