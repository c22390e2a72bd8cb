import { createTestDatabase } from '../../../test/harness/database.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import { uuidV7 } from '../kit/ids.ts';
import { seededRandom } from '../kit/random.ts';
import { createSealer } from '../kit/seal.ts';
import { createBusiness } from '../merchants/create-business.ts';
import type { AccountContext, AccountMail } from './context.ts';
import { signIn, type StartedSession } from './sign-in.ts';
import { signUp, verifyEmail } from './sign-up.ts';

export const password = 'mango pirogue laterite drum';

/** Logins on a database of their own, with the mails that they caused. */
export interface AccountWorld {
  context: AccountContext;
  clock: ManualClock;
  mails: AccountMail[];
  /** The token of the newest mail's link. */
  newestToken(): string;
  /** Signs a business's owner up, and verifies the address. */
  addOwner(email: string): Promise<{ accountId: string; businessId: string }>;
  createBusiness(tx: Transaction, business: { name: string }): Promise<{ businessId: string }>;
  signIn(email: string, secret?: string, knownDevice?: string): Promise<StartedSession>;
  close(): Promise<void>;
}

export const client = { device: 'Chromium on Linux', address: '192.0.2.7', requestId: 'req_1' };

/** `publicUrl` is where its pages are served, if they are. */
export async function openAccountWorld(
  seed: string,
  publicUrl = () => 'https://pay.example.gm',
): Promise<AccountWorld> {
  const database = await createTestDatabase();
  const db = openTestDatabase(database, { connectionsMax: 6 });
  const clock = new ManualClock();
  const random = seededRandom(seed);
  const mails: AccountMail[] = [];
  const context: AccountContext = {
    ...{ db, clock, random, newId: () => uuidV7(clock, random) },
    sealer: createSealer('11'.repeat(32)),
    pepper: new Uint8Array(32).fill(7),
    publicUrl,
    sendMail: (_tx, mail) => void mails.push(mail),
  };
  const newestToken = () => {
    const found = /\/([0-9A-Za-z]{43})$/m.exec(mails.at(-1)?.text ?? '');
    assert(found?.[1] !== undefined, 'the newest mail has a link');
    return found[1];
  };
  const createBusinessOf = async (tx: Transaction, business: { name: string }) => {
    const { test } = await createBusiness(tx, context, business);
    return { businessId: test.businessId };
  };
  return {
    ...{ context, clock, mails, newestToken, createBusiness: createBusinessOf },
    addOwner: async (email) => {
      let businessId = '';
      await signUp(context, { name: 'Awa', email, password, businessName: 'Kairaba Books' }, async (tx, business) => {
        const created = await createBusinessOf(tx, business);
        ({ businessId } = created);
        return created;
      });
      const account = await verifyEmail(context, newestToken());
      assert(account, 'the link verifies the address');
      return { accountId: account.id, businessId };
    },
    signIn: (email, secret = password, knownDevice) =>
      signIn(context, 'merchant', { email, password: secret, client, knownDevice: knownDevice ?? null }),
    close: async () => {
      await db.close();
      await database.drop();
    },
  };
}
