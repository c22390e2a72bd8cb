import { clusterDirectoryIn, readPassword } from './cluster.ts';
import { findLiveOwner } from './data-directory-lock.ts';
import { superuserUrl } from './embedded.ts';
import { readServerFile } from './server-file.ts';

/**
 * The superuser's URL of the PostgreSQL that another process of the service runs in the data directory; undefined when none runs.
 * For an operator's command beside a running service.
 */
export function findRunningServer(dataDirectory: string): string | undefined {
  if (findLiveOwner(dataDirectory) === undefined) return undefined;
  const clusterDirectory = clusterDirectoryIn(dataDirectory);
  const file = readServerFile(clusterDirectory);
  const password = readPassword(dataDirectory);
  if (!file || file.status !== 'ready' || password === undefined) return undefined;
  return superuserUrl({ clusterDirectory, password, port: file.port });
}
