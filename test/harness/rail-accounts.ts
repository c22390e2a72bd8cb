import { createRailAccountContext } from '../../server/src/app/contexts.ts';
import { addRailAccount, type NewRailAccount } from '../../server/src/rail-accounts/manage-accounts.ts';
import type { TestService } from './service.ts';

/** Connects an account of the GSMA API as an operator does; by default a live one for APS at an address where nobody listens. */
export async function addTestRailAccount(
  { db, clock, secrets }: Pick<TestService, 'db' | 'clock' | 'secrets'>,
  name: string,
  changes: Partial<NewRailAccount> = {},
): Promise<string> {
  const config = { production: false };
  const notifier = { notify: () => {} };
  const context = createRailAccountContext({ config, db, clock, secrets, notifier });
  const request: NewRailAccount = {
    ...{ kind: 'gsma', name, testMode: false, businessId: null, baseUrl: 'http://127.0.0.1:9', position: null },
    fields: { config: JSON.stringify({ networks: [{ network: 'aps' }] }), 'api-key': 'a key of the tests' },
    ...changes,
  };
  await secrets.sealer.prepare();
  return (await db.withTransaction((tx) => addRailAccount(tx, context, request))).name;
}
