import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ManualClock } from '../../../../test/harness/manual-clock.ts';
import { ScriptedServer } from '../scripted-server.corpus.ts';
import type { ScriptedReply } from '../scripted-server.corpus.ts';
import { createWaveConnector } from './connector.ts';
import type { WaveConnector } from './connector.ts';
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
const page = (...items: Record<string, unknown>[]) => ({
  page_info: { has_next_page: false, end_cursor: null },
  items,
});
const line = (changes: Record<string, unknown>) => ({
  ...{ transaction_id: 'T_9', transaction_type: 'api_checkout', timestamp: '2026-11-20T10:00:00Z', amount: '-450.5' },
  ...{ fee: '0', currency: 'GMD', is_reversal: true, checkout_api_session_id: 'cos-1', ...changes },
});

test('balance, statement, recipients and reversals are read, or undefined where they are not clear', async () => {
  replying([200, { amount: '-12.5', currency: 'GMD' }], [200, page(line({ balance: '99', fee: '1' }))], [500, {}]);
  assert.deepEqual(await wave.wallet.balance(), { amountMinor: -1_250n, currency: 'GMD' });
  const statement = await wave.wallet.transactions({ day: '2026-11-20', after: null });
  assert.deepEqual(statement?.transactions[0], {
    ...{ transactionId: 'T_9', type: 'api_checkout', at: new Date('2026-11-20T10:00:00Z'), netMinor: -45_050n },
    ...{ feeMinor: 100n, balanceMinor: 9_900n, currency: 'GMD', isReversal: true, clientReference: null },
    ...{ sessionId: 'cos-1', counterpartyNumber: null },
  });
  assert.equal(await wave.wallet.balance(), undefined);
  const recipient = { reference, number: '+2207000001', name: 'Awa', amountMinor: 100n, currency: 'GMD' };
  replying(
    [200, { within_limits: true, name_match: 'NO_MATCH' }],
    [200, { within_limits: true, name_match: 'PERHAPS' }],
  );
  assert.deepEqual(await wave.wallet.verifyRecipient(recipient), { withinLimits: true, name: 'no_match' });
  assert.equal(await wave.wallet.verifyRecipient(recipient), undefined);
  replying([200, ''], [422, { error_code: 'payout-reversal-time-limit-exceeded' }], [503, {}]);
  const reverse = () => wave.wallet.reversePayout({ reference, payoutId: 'pt-1' });
  assert.deepEqual(await reverse(), { state: 'reversed' });
  assert.deepEqual(await reverse(), { state: 'refused', code: 'payout-reversal-time-limit-exceeded' });
  assert.equal(await reverse(), undefined);
});
