import assert from 'node:assert/strict';
import { readConfig } from '../../server/src/configuration/config.ts';
import { readSecrets } from '../../server/src/configuration/secrets.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import { openSecrets } from '../../server/src/process/open-secrets.ts';
import { accountCredential, requestSigningSecret } from '../../simulator/credentials.ts';
import { completionPoints, deliveryPoints, lookUpPoints, planPoints, sendPoints } from '../harness/crash-paths.ts';
import { autocommit, commit, inLongRun, outboundCall, since, statements } from '../harness/crash-points.ts';
import { testCrashStory } from '../harness/crash-story.ts';
import { verifyBooks } from '../harness/crash-transfer.ts';
import { countWhere, type CrashWorld } from '../harness/crash-world.ts';
import { addTestRailAccount } from '../harness/rail-accounts.ts';
import { testKeys } from '../harness/service.ts';

const numbers = ['7000001', '7001234', '7001235'];

/** Transfers of an account at the simulated Wave that pays out in batches, which no worker has sent yet. */
async function requestTransfers(world: CrashWorld): Promise<void> {
  const { db, clock, merchant } = world;
  const { secrets } = await openSecrets(readSecrets(readConfig(testKeys), systemRandom), { db, clock });
  const holder = { network: 'wave', account: merchant.shortId };
  await addTestRailAccount({ db, clock, secrets }, 'wave-main', {
    ...{ kind: 'wave', testMode: true, position: 1n, baseUrl: `${world.proxy.url}/simulator/networks/wave` },
    fields: {
      'api-key': accountCredential(secrets.simulatorBearerSecret, holder),
      'signing-secret': requestSigningSecret(secrets.simulatorBearerSecret, holder),
      ...{ amounts: 'bututs', payouts: 'batches' },
    },
  });
  await world.start('api');
  for (const number of numbers) {
    const body = { amount: 100, network: 'wave', account_number: number, beneficiary_name: 'Awa Ceesay' };
    const accepted = await world.client().post('/v1/transfers', body, { 'idempotency-key': number });
    assert.equal(accepted.status, 201, accepted.text);
  }
}

const completed = (world: CrashWorld) => countWhere(world, `transfers WHERE status = 'completed'`);

/** Each was paid once, in however many calls. */
async function verify(world: CrashWorld): Promise<void> {
  assert.equal(await completed(world), numbers.length);
  const paid = await world.db.rows<{ reference: string }>({
    name: 'test_paid',
    text: `SELECT COALESCE(client_reference, reference) AS reference FROM simulator.payouts`,
    values: [],
  });
  const references = await world.db.rows<{ reference: string }>({
    name: 'test_references',
    text: 'SELECT reference FROM transfers WHERE rail_account = $1',
    values: ['wave-main'],
  });
  const sorted = (rows: { reference: string }[]) => rows.map(({ reference }) => reference).toSorted();
  assert.deepEqual(sorted(paid), sorted(references), 'the network has one payout for each');
  assert.equal(await countWhere(world, 'simulator.payout_batches'), 1, 'and one batch, however often it was sent');
  await verifyBooks(world);
}

testCrashStory({
  title: 'while it sends transfers in a batch',
  role: 'worker',
  prepare: requestTransfers,
  isDone: async (world) =>
    (await countWhere(world, `transfers WHERE network_reference IS NOT NULL`)) === numbers.length,
  verify,
  points: [
    ...autocommit('outbox_claim'),
    ...statements('transfers_find_by_id', 'merchants_find_by_id', 'circuit_breakers_list', 'transfers_find_by_ids'),
    ...statements('transfers_lock_several', 'transfers_update'),
    ...commit('transfers_update'),
    ...outboundCall('payouts-call'),
    ...since('payouts-call:responded', commit('transfers_update')),
  ],
  coveredElsewhere: inLongRun([...sendPoints, ...lookUpPoints, ...completionPoints, ...planPoints, ...deliveryPoints]),
});
