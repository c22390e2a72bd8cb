import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { readConfig } from '../../server/src/configuration/config.ts';
import { readSecrets } from '../../server/src/configuration/secrets.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import { runCommand } from '../../server/src/operator/run-command.ts';
import { openSecrets } from '../../server/src/process/open-secrets.ts';
import { charge } from './crash-payment.ts';
import { verifyBooks } from './crash-transfer.ts';
import { countWhere, type CrashWorld } from './crash-world.ts';
import { addTestRailAccount } from './rail-accounts.ts';
import { receiptText } from './receipts-shop.ts';
import { testKeys } from './service.ts';
import { fastTemporaryDirectory } from './temporary-directory.ts';

const account = 'kairaba-wave';
const deviceKey = 'device-key-of-the-shop-31f7';
const transactionId = 'T_QK7H2M4P';

/** A payment by receipt whose payer has sent the money and typed the id. */
export async function payByReceipt(world: CrashWorld): Promise<void> {
  const { db, clock, merchant } = world;
  const { secrets } = await openSecrets(readSecrets(readConfig(testKeys), systemRandom), { db, clock });
  await addTestRailAccount({ db, clock, secrets }, account, {
    ...{ kind: 'receipts', testMode: true, businessId: merchant.businessId, baseUrl: null, position: 1n },
    fields: { network: 'wave', till: '7001234', holder: 'Kairaba Books', 'device-key': deviceKey },
  });
  await world.start('api');
  const { body } = await charge(world, { network: 'wave' });
  await world.runWorker();
  const typed = await fetch(`${String(body['payment_link'])}/transaction-id`, {
    ...{ method: 'POST', redirect: 'manual', headers: { origin: world.apiUrl } },
    body: new URLSearchParams({ transaction_id: transactionId }),
  });
  assert.equal(typed.status, 303, await typed.text());
}

/** The phone forwards the network's message; returns the status, or null where the process died. */
export async function forwardMessage(world: CrashWorld, url = world.apiUrl): Promise<number | null> {
  const at = world.clock.now();
  const payload = { message: receiptText(transactionId), phoneNumber: 'Wave', receivedAt: at.toISOString() };
  const body = JSON.stringify({ event: 'sms:received', payload });
  const seconds = String(at.getTime() / 1_000);
  const signature = createHmac('sha256', deviceKey).update(body).update(seconds).digest('hex');
  const headers = { 'x-signature': signature, 'x-timestamp': seconds };
  return fetch(`${url}/networks/${account}/messages`, { method: 'POST', headers, body }).then(
    ({ status }) => status,
    () => null,
  );
}

/** A statement of this day that has the transaction with this amount; then it is past midnight. */
export async function importStatement(world: CrashWorld, amount: string): Promise<void> {
  const folder = mkdtempSync(join(fastTemporaryDirectory(), 'dalasi-crash-'));
  const file = join(folder, 'lines.csv');
  const line = [transactionId, world.clock.now().toISOString(), amount, 'collection'].join(',');
  writeFileSync(file, `transaction_id,timestamp,amount,type\n${line}\n`);
  await operate(world, ['reconcile', 'import', '--network', account, '--file', file]);
  rmSync(folder, { recursive: true });
  world.advance(13 * 60 * 60_000);
}

/** Above this amount a statement line must confirm a receipt. */
export function requireConfirmation(world: CrashWorld): Promise<void> {
  return operate(world, ['receipts', 'limit', '--merchant', world.merchant.id, '--above', '100']);
}

async function operate({ database }: CrashWorld, words: readonly string[]): Promise<void> {
  let text = '';
  const write = (written: string) => (text += written);
  const environment = { ...testKeys, APP_ENV: 'development', APP_DATABASE_URL: database.appUrl };
  const streams = { stdin: Readable.from([]), stdout: { write }, stderr: { write } };
  assert.equal(await runCommand(words, { environment, ...streams }), 0, text);
}

/** Checks that the payment was booked once, straight to the merchant, and taken back once or not at all. */
export async function verifyReceipt(
  world: CrashWorld,
  receipt: 'unconfirmed' | 'confirmed' | 'contradicted',
): Promise<void> {
  const isReversed = receipt === 'contradicted';
  const { body } = await world.client().get('/v1/transactions');
  const [transaction, ...others] = body['data'] as Record<string, unknown>[];
  assert.deepEqual([transaction?.['status'], others], [isReversed ? 'reversed' : 'completed', []]);
  assert.equal(await countWhere(world, `receipts WHERE status = '${receipt}'`), 1);
  assert.equal(await countWhere(world, `ledger_movements WHERE flow = 'received_directly'`), 1);
  assert.equal(await countWhere(world, `ledger_movements WHERE flow = 'reversed'`), isReversed ? 1 : 0);
  assert.equal(await countWhere(world, `cases WHERE kind = 'network_reversal'`), isReversed ? 1 : 0);
  assert.equal(await countWhere(world, `events WHERE kind = 'charge.succeeded'`), 1);
  await verifyBooks(world);
}
