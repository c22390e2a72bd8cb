import { createTestDatabase } from '../../../test/harness/database.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import type { Transaction } from '../kit/db.ts';
import { uuidV7 } from '../kit/ids.ts';
import { seededRandom } from '../kit/random.ts';
import { createBusiness } from '../merchants/create-business.ts';
import type { Account } from './accounts.ts';
import { readBalance } from './read-balance.corpus.ts';
import { post } from './post.ts';
import type { Movement } from './posting.ts';

/** A ledger on a database of its own, as the serving role works with it. */
export type LedgerWorld = Awaited<ReturnType<typeof createLedgerWorld>>;

/** Patient unless a test waits for a lock in vain: in the others many may want the same balance. */
export async function createLedgerWorld({ isPatient = true }: { isPatient?: boolean } = {}) {
  const database = await createTestDatabase();
  const clock = new ManualClock();
  const random = seededRandom('ledger');
  const newId = () => uuidV7(clock, random);
  const db = openTestDatabase(database, { isPatient });
  const currency = 'GMD';
  const postIn = (tx: Transaction, merchantId: string, movements: readonly Movement[]): Promise<void> =>
    post(
      tx,
      { newId },
      { merchantId, currency, flow: 'test', source: { type: 'test', id: newId() }, movements, at: clock.now() },
    );
  return {
    database,
    db,
    clock,
    newId,
    postIn,
    /** A live merchant: its ledger is empty. */
    newMerchant: async (): Promise<string> => {
      const business = await db.withTransaction((tx) => createBusiness(tx, { clock, random, newId }, { name: 'Shop' }));
      return business.live.id;
    },
    /** One posting in a transaction of its own. */
    post: (merchantId: string, ...movements: Movement[]): Promise<void> =>
      db.withTransaction((tx) => postIn(tx, merchantId, movements)),
    balance: (merchantId: string, account: Account): Promise<bigint> =>
      readBalance(db, { merchantId, account, currency }),
    count: async (
      table: 'ledger_movements' | 'ledger_deltas' | 'ledger_accounts',
      merchantId: string,
    ): Promise<number> => {
      const row = await db.row<{ count: bigint }>({
        name: `test_count_${table}`,
        text: `SELECT count(*) AS count FROM ${table} WHERE merchant_id = $1`,
        values: [merchantId],
      });
      return Number(row?.count ?? 0n);
    },
    /** What only the owner of the tables may do, and nobody should. */
    asOwner: (text: string, values: unknown[] = []): Promise<unknown> => database.asOwner(text, values),
    close: async (): Promise<void> => {
      await db.close();
      await database.drop();
    },
  };
}
