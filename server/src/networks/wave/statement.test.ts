import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ManualClock } from '../../../../test/harness/manual-clock.ts';
import { ScriptedServer, type ScriptedReply } from '../scripted-server.corpus.ts';
import { createWaveConnector, type WaveConnector } from './connector.ts';
import { waveOptions } from './options.ts';

const reference = 'Shop1234reference0000000000001';
const server = new ScriptedServer();
let wave: WaveConnector;

before(async () => {
  const baseUrl = await server.start();
  wave = createWaveConnector({
    baseUrl: () => baseUrl,
    ...{ clock: new ManualClock(), callTimeoutMs: 3_000, railAccount: 'wave-main', testMode: false, merchantId: null },
    webhookSecrets: { signing: ['webhooks'], shared: [] },
    credentialsFor: () => ({ apiKey: 'key', signingSecret: null }),
    options: waveOptions({}),
  });
});

after(async () => {
  await wave.close();
  server.close();
});

const replying = (...replies: ScriptedReply[]) => (server.replies = replies);
const line = (changes: Record<string, unknown>) => ({
  ...{ transaction_id: 'T_9', transaction_type: 'api_checkout', timestamp: '2026-11-20T10:00:00Z', amount: '-450.5' },
  ...{ fee: '0', currency: 'GMD', is_reversal: true, checkout_api_session_id: 'cos-1', ...changes },
});

test('a page of the statement is read in the words of reconciliation, but for lines that are not clear', async () => {
  const of = (transaction_type: string, amount: string, more = {}) =>
    line({ transaction_type, amount, is_reversal: false, ...more });
  const items = [
    of('api_checkout', '445.5', { fee: '5', client_reference: reference, balance: '1445.5', counterparty_name: 'Awa' }),
    of('api_checkout', '-445.5', { fee: '5', is_reversal: true }),
    of('api_checkout_refund', '-450.5'),
    of('api_payout', '-101', { fee: '1', client_reference: reference, checkout_api_session_id: null }),
    of('api_payout_reversal', '101', { fee: '1', is_reversal: true }),
    of('merchant_sweep', '-1000'),
    of('api_checkout', '1e2'),
    of('api_checkout', '1', { timestamp: 'today' }),
    of('api_checkout', '1', { transaction_id: 7 }),
    7,
  ];
  replying([200, { page_info: { has_next_page: true, end_cursor: 'next' }, items }], [500, {}], [200, { items: [] }]);
  const read = (cursor: string | null) => wave.statements?.read({ day: '2026-11-20', cursor });
  const statement = await read(null);
  assert.ok(statement?.state === 'page');
  assert.deepEqual([statement.refusals.length, statement.nextCursor], [4, 'next']);
  assert.deepEqual(statement.lines[0], {
    ...{ transactionId: 'T_9', kind: 'collection', status: 'completed', at: new Date('2026-11-20T10:00:00Z') },
    ...{ netMinor: 44_550n, grossMinor: 45_050n, feeMinor: 500n, currency: 'GMD', balanceMinor: 144_550n, reference },
    ...{ originalTransactionId: null, counterpartyNumber: null, counterpartyName: 'Awa' },
  });
  assert.deepEqual(
    statement.lines.map(({ kind, grossMinor, originalTransactionId }) => [kind, grossMinor, originalTransactionId]),
    [
      ['collection', 45_050n, null],
      ['collection_reversal', 45_050n, null],
      ['refund', 45_050n, 'cos-1-refund'],
      ['payout', 10_000n, null],
      ['payout_reversal', 10_000n, null],
      ['other', 100_000n, null],
    ],
  );
  assert.equal((await read('next'))?.state, 'unknown');
  assert.equal((await read('next'))?.state, 'unknown', 'without its page info');
  assert.equal(server.received.at(-1)?.line, 'GET /v1/transactions?date=2026-11-20&after=next');
});

test('a day of more pages than are read for a reversal is no sign that there is none', async () => {
  const paid: ScriptedReply = [
    200,
    {
      ...{ id: 'cos-1', client_reference: reference, amount: '450.5', currency: 'GMD', transaction_id: 'T_1' },
      ...{ checkout_status: 'complete', payment_status: 'succeeded' },
    },
  ];
  const more: ScriptedReply = [200, { page_info: { has_next_page: true, end_cursor: 'next' }, items: [] }];
  const pages = (count: number) => Array.from({ length: count }, () => more);
  const look = async (...replies: ScriptedReply[]) => {
    replying(paid, ...replies);
    return (await wave.collections.lookUp({ reference, handles: { session_id: 'cos-1' }, hasSucceeded: true })).state;
  };
  const none: ScriptedReply = [200, { page_info: { has_next_page: false, end_cursor: null }, items: [] }];
  assert.equal(await look(...pages(49), none, none, none, none), 'succeeded');
  assert.equal(await look(...pages(50), none, none, none, none), 'unknown');
});
