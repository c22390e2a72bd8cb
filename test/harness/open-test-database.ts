import { systemClock } from '../../server/src/kit/clock.ts';
import { openDatabase, type Database, type DatabaseOptions } from '../../server/src/kit/db.ts';
import type { TestDatabase } from './database.ts';

/** Opens a test's database without a service, as the serving role, waiting as long as it takes for a connection. */
export function openTestDatabase(
  { appUrl }: Pick<TestDatabase, 'appUrl'>,
  options: Partial<DatabaseOptions> = {},
): Database {
  return openDatabase({
    url: appUrl,
    connectionsMax: 4,
    clock: systemClock,
    onConnectionError: () => {},
    isPatient: true,
    ...options,
  });
}
