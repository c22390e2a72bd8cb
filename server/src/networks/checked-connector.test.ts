import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isNetworkId, withCheckedIds } from './checked-connector.ts';
import type { ProviderNotification, CollectionResponse, PayoutResponse, RawCallback } from './contract.ts';
import { ScriptedNetwork } from './scripted-network.corpus.ts';

const network = new ScriptedNetwork('wave');
const checked = withCheckedIds(network);

const hostile = [
  ...[
    '',
    ' ',
    'T_1 ',
    ' T_1',
    'T 1',
    'T\t1',
    'T\n1',
    'T_1\n',
    'T\u00001',
    'T\u001b[31m1',
    '\u202eT1',
    'Ŧ1',
    'T\u200b1',
    '🙂',
  ],
  ...[
    '<script>',
    '"T1"',
    "T'1",
    'T;1',
    'T,1',
    'T|1',
    'T`1',
    'T$1',
    'T\\1',
    '=1+1',
    '+1',
    '-1',
    '@1',
    '../1',
    'x'.repeat(129),
  ],
];
const usual = [
  ...['cos-18qq25rgr100a', 'T_46HS5COOWE', 'TCN4Y4ZC3FM', 'PP240101.1234.A12345', 'MP210603.1234.L06941', '8123456789'],
  ...['01939f00-0000-7000-8000-000000000001', 'a/b:c+d=', 'x', 'x'.repeat(128)],
];

const providerTransaction = { amountMinor: 100n, currency: 'GMD', networkFeeMinor: 0n, payerNumber: null };
const request = { reference: 'Shop0001abc', handles: {} };

/** Responses about a collection, with this id in each field that holds one. */
function collections(id: string): CollectionResponse[] {
  const nextAction = { type: 'approve_on_phone' } as const;
  return [
    { state: 'succeeded', providerTransaction: { ...providerTransaction, transactionId: id, networkReference: 'N1' } },
    { state: 'succeeded', providerTransaction: { ...providerTransaction, transactionId: 'T1', networkReference: id } },
    { state: 'reversed', providerTransaction: { ...providerTransaction, transactionId: id, networkReference: 'N1' } },
    {
      state: 'reversed',
      providerTransaction: { ...providerTransaction, transactionId: 'T1', networkReference: 'N1' },
      reversalId: id,
    },
    { state: 'awaiting_payer', nextAction, networkReference: id, handles: {} },
    { state: 'awaiting_payer', nextAction, networkReference: 'N1', handles: { [id]: 'x' } },
  ];
}

function payouts(id: string): PayoutResponse[] {
  return [
    { state: 'succeeded', providerTransaction: { ...providerTransaction, transactionId: id, networkReference: 'N1' } },
    { state: 'reversed', providerTransaction: { ...providerTransaction, transactionId: 'T1', networkReference: id } },
    { state: 'processing', networkReference: id, handles: {} },
  ];
}

/** The checked response by each route: call, look-up and callback. */
async function collectionResponses(response: CollectionResponse): Promise<CollectionResponse[]> {
  Object.assign(network.responses, { start: response, look_up: response, cancel: response, continue: response });
  const start = { ...request, amountMinor: 100n, currency: 'GMD', payerNumber: null, payerNumberAsSent: null };
  const rest = { description: 'x', expiresAt: new Date(0), returnUrl: 'https://x.gm/', callbackUrl: 'https://x.gm/' };
  const { collections: operations } = checked;
  assert.ok(operations);
  return [
    await operations.start({ ...start, ...rest }),
    await operations.lookUp(request),
    await operations.cancel(request),
    await operations.continue({ ...request, ...start, code: null }),
  ];
}

test('a response with an invalid id is unknown, whatever it says about money, and nothing throws', async () => {
  for (const id of hostile) {
    assert.equal(isNetworkId(id), false, JSON.stringify(id));
    for (const response of collections(id)) {
      const states = (await collectionResponses(response)).map(({ state }) => state);
      assert.deepEqual(states, ['unknown', 'unknown', 'unknown', 'unknown'], `${response.state} ${JSON.stringify(id)}`);
    }
    for (const response of payouts(id)) {
      network.payoutResponses.look_up_payout = response;
      assert.equal((await checked.payouts?.lookUp(request))?.state, 'unknown', JSON.stringify(id));
    }
  }
});

test('a response with valid ids is passed on unchanged', async () => {
  for (const id of usual) {
    for (const response of collections(id)) {
      for (const passed of await collectionResponses(response)) assert.deepEqual(passed, response);
    }
    for (const response of payouts(id)) {
      network.payoutResponses.look_up_payout = response;
      assert.deepEqual(await checked.payouts?.lookUp(request), response);
    }
  }
});

test('handles may be longer than ids, up to a limit', async () => {
  const of = (handles: Record<string, string>): CollectionResponse => {
    const nextAction = { type: 'approve_on_phone' } as const;
    return { state: 'awaiting_payer', nextAction, networkReference: 'N1', handles };
  };
  for (const handles of [{ token: 'x'.repeat(2_048) }, { token: 'a.b_c-d=="&' }]) {
    assert.deepEqual((await collectionResponses(of(handles)))[0], of(handles));
  }
  const many = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`handle${index}`, 'x']));
  for (const handles of [{ token: 'x'.repeat(2_049) }, { token: '' }, { token: 'a b' }, { token: 'a\u0000' }, many]) {
    assert.equal((await collectionResponses(of(handles)))[0]?.state, 'unknown');
  }
});

test('a callback with an invalid reference is malformed; one with an invalid id is unknown', () => {
  const reported: ProviderNotification[] = [];
  network.readCallback = () => ({ accepted: true, notifications: reported });
  const read = (notifications: ProviderNotification) => {
    reported.splice(0, reported.length, notifications);
    return checked.readCallback({} as RawCallback);
  };
  for (const id of hostile) {
    const response = { state: 'processing' } as const;
    assert.deepEqual(read({ operation: 'collection', reference: id, response }), {
      accepted: false,
      reason: 'malformed',
    });
    const [collection] = collections(id);
    const [payout] = payouts(id);
    assert.ok(collection && payout);
    for (const notifications of [
      { operation: 'collection', reference: 'Shop1', response: collection } as const,
      { operation: 'payout', reference: 'Shop1', response: payout } as const,
    ]) {
      const reading = read(notifications);
      assert.ok(reading.accepted);
      assert.deepEqual(
        reading.notifications.map(({ reference, response: reported }) => [reference, reported?.state]),
        [['Shop1', 'unknown']],
      );
    }
  }
});
