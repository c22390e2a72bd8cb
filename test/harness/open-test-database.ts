import { systemClock } from '../../server/src/kit/clock.ts';
import { openDatabase } from '../../server/src/kit/db.ts';
import type { Database, DatabaseOptions } from '../../server/src/kit/db.ts';
import type { TestDatabase } from './database.ts';

/** What a test that has no service reads and writes its database by, as the serving role and with patience. */
export function openTestDatabase(
  { appUrl }: Pick<TestDatabase, 'appUrl'>,
  options: Partial<DatabaseOptions> = {},
): Database {
  return openDatabase({
    url: appUrl,
    connectionsMax: 10,
    clock: systemClock,
    onConnectionError: () => {},
    isPatient: true,
    ...options,
  });
}
