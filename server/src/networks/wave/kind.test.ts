import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { addMs } from '../../kit/clock.ts';
import { ManualClock } from '../../../../test/harness/manual-clock.ts';
import type { JsonObject } from '../../kit/strict-json.ts';
import type { AccountConnection, AccountCredentials } from '../connector-kind.ts';
import { ScriptedServer } from '../scripted-server.corpus.ts';
import { waveKind } from './kind.ts';
import { signWave } from './signature.ts';

const server = new ScriptedServer();
const clock = new ManualClock();
const overlapEndsAt = addMs(clock.now(), 3_600_000);
const body = JSON.stringify({
  id: 'EV_1',
  type: 'checkout.session.expired',
  data: { id: 'cos-1', client_reference: 'R1' },
});
let baseUrl: string;
const opened: AccountConnection[] = [];

before(async () => {
  baseUrl = await server.start();
});

after(async () => {
  await Promise.all(opened.map((connection) => connection.close()));
  server.close();
});

/** An account whose webhook secret was rotated: the old one verifies until the overlap ends. */
const rotated: AccountCredentials = {
  current: (field) => ({ 'api-key': 'key', 'signing-secret': 'signing', 'webhook-secret': 'new' })[field] ?? null,
  validAt: (field, at) => {
    if (field !== 'webhook-secret') return [];
    return at < overlapEndsAt ? ['new', 'old'] : ['new'];
  },
};
const withoutWebhooks: AccountCredentials = {
  current: (field) => (field === 'api-key' ? 'key' : null),
  validAt: () => [],
};

function connect(credentials: AccountCredentials, settings: JsonObject = {}): AccountConnection {
  const connection = waveKind.connect({
    ...{ railAccount: 'wave-main', testMode: false, merchantId: null, settings, amountStepMinor: 1n },
    ...{ baseUrl, credentials, clock },
  });
  opened.push(connection);
  return connection;
}

function isAccepted({ connectors: [connector] }: AccountConnection, headers: Record<string, string>): boolean {
  const callback = { headers, query: {}, body: Buffer.from(body), receivedAt: clock.now() };
  return connector?.readCallback(callback).accepted === true;
}

const signedWith = (secret: string) => ({ 'wave-signature': signWave(secret, { sentAt: clock.now(), body }) });

test('the check reads the balance, signed, and says in words what Wave refuses', async () => {
  const account = connect(rotated);
  server.replies = [
    [200, { amount: '100', currency: 'GMD' }],
    [401, { code: 'unauthorized' }],
  ];
  assert.equal((await account.check()).works, true);
  assert.match((await account.check()).text, /refuses the credential \(HTTP 401\)/);
  const [sent] = server.received;
  assert.equal(sent?.line, 'GET /v1/balance');
  assert.equal(sent.headers.authorization, 'Bearer key');
  assert.match(String(sent.headers['wave-signature']), /^t=\d+,v1=/);
});

test('an old webhook secret verifies until its overlap ends, by either strategy', async () => {
  const account = connect(rotated);
  for (const secret of ['new', 'old']) {
    assert.equal(isAccepted(account, signedWith(secret)), true, secret);
    assert.equal(isAccepted(account, { authorization: `Bearer ${secret}` }), true, secret);
  }
  await clock.advance(3_600_000);
  assert.deepEqual([isAccepted(account, signedWith('old')), isAccepted(account, signedWith('new'))], [false, true]);
});

test('an account without a webhook secret reads no webhook, and its amounts are as it says', () => {
  const account = connect(withoutWebhooks);
  for (const headers of [{}, signedWith(''), { authorization: 'Bearer ' }])
    assert.equal(isAccepted(account, headers), false);
  const [connector] = account.connectors;
  assert.equal(connector?.collections?.capabilities.amountStepMinor, 1n);
  assert.throws(() => waveKind.networksOf({ config: { signGets: 'no' } }), /wrong at \/signGets/);
});

test('payouts go one by one unless the account says otherwise; how many in a batch is its setting', () => {
  const batchMaxOf = (settings: JsonObject) =>
    connect(withoutWebhooks, settings).connectors[0]?.payouts?.capabilities.batchMax;
  assert.equal(batchMaxOf({}), undefined);
  assert.equal(batchMaxOf({ payouts: 'single', config: { batchMax: 30 } }), undefined);
  assert.equal(batchMaxOf({ payouts: 'batches' }), 100);
  assert.equal(batchMaxOf({ payouts: 'batches', config: { batchMax: 30 } }), 30);
  assert.throws(() => waveKind.networksOf({ config: { batchMax: 101 } }), /wrong at \/batchMax/);
  assert.throws(() => waveKind.networksOf({ config: { batchPath: '/v1/batches' } }), /wrong at \/batchPath/);
});
