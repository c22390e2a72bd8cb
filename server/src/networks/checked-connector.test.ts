import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isNetworkId, withCheckedIds } from './checked-connector.ts';
import type { CallbackNews, CollectionAnswer, PayoutAnswer, RawCallback } from './contract.ts';
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

const receipt = { amountMinor: 100n, currency: 'GMD', networkFeeMinor: 0n, payerNumber: null };
const request = { reference: 'Shop0001abc', handles: {} };

/** Answers that tell of a collection, with this id in each of the places where one may stand. */
function collections(id: string): CollectionAnswer[] {
  const nextAction = { type: 'approve_on_phone' } as const;
  return [
    { state: 'succeeded', receipt: { ...receipt, transactionId: id, networkReference: 'N1' } },
    { state: 'succeeded', receipt: { ...receipt, transactionId: 'T1', networkReference: id } },
    { state: 'reversed', receipt: { ...receipt, transactionId: id, networkReference: 'N1' } },
    { state: 'reversed', receipt: { ...receipt, transactionId: 'T1', networkReference: 'N1' }, reversalId: id },
    { state: 'awaiting_payer', nextAction, networkReference: id, handles: {} },
    { state: 'awaiting_payer', nextAction, networkReference: 'N1', handles: { [id]: 'x' } },
  ];
}

function payouts(id: string): PayoutAnswer[] {
  return [
    { state: 'succeeded', receipt: { ...receipt, transactionId: id, networkReference: 'N1' } },
    { state: 'reversed', receipt: { ...receipt, transactionId: 'T1', networkReference: id } },
    { state: 'processing', networkReference: id, handles: {} },
  ];
}

/** What the connector makes of its network's answer, by each way in which one comes. */
async function collectionAnswers(answer: CollectionAnswer): Promise<CollectionAnswer[]> {
  Object.assign(network.answers, { start: answer, look_up: answer, cancel: answer, continue: answer });
  const start = { ...request, amountMinor: 100n, currency: 'GMD', payerNumber: null, payerNumberAsSent: null };
  const rest = { description: 'x', expiresAt: new Date(0), returnUrl: 'https://x.gm/', callbackUrl: 'https://x.gm/' };
  return [
    await checked.startCollection({ ...start, ...rest }),
    await checked.lookUpCollection(request),
    await checked.cancelCollection(request),
    await checked.continueCollection({ ...request, code: null }),
  ];
}

test('an answer with an id that cannot be one is unknown, whatever it says of money, and nothing is thrown', async () => {
  for (const id of hostile) {
    assert.equal(isNetworkId(id), false, JSON.stringify(id));
    for (const answer of collections(id)) {
      const states = (await collectionAnswers(answer)).map(({ state }) => state);
      assert.deepEqual(states, ['unknown', 'unknown', 'unknown', 'unknown'], `${answer.state} ${JSON.stringify(id)}`);
    }
    for (const answer of payouts(id)) {
      network.payoutAnswers.look_up_payout = answer;
      assert.equal((await checked.payouts?.lookUp(request))?.state, 'unknown', JSON.stringify(id));
    }
  }
});

test('an answer with ids as networks have them is passed on as it came', async () => {
  for (const id of usual) {
    for (const answer of collections(id)) {
      for (const passed of await collectionAnswers(answer)) assert.deepEqual(passed, answer);
    }
    for (const answer of payouts(id)) {
      network.payoutAnswers.look_up_payout = answer;
      assert.deepEqual(await checked.payouts?.lookUp(request), answer);
    }
  }
});

test('handles may be longer than ids, and are bounded all the same', async () => {
  const of = (handles: Record<string, string>): CollectionAnswer => {
    const nextAction = { type: 'approve_on_phone' } as const;
    return { state: 'awaiting_payer', nextAction, networkReference: 'N1', handles };
  };
  for (const handles of [{ token: 'x'.repeat(1_024) }, { token: 'a.b_c-d=="&' }]) {
    assert.deepEqual((await collectionAnswers(of(handles)))[0], of(handles));
  }
  const many = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`handle${index}`, 'x']));
  for (const handles of [{ token: 'x'.repeat(1_025) }, { token: '' }, { token: 'a b' }, { token: 'a\u0000' }, many]) {
    assert.equal((await collectionAnswers(of(handles)))[0]?.state, 'unknown');
  }
});

test('a callback about a reference that cannot be one is malformed; one with a wrong id tells nothing', () => {
  const told: CallbackNews[] = [];
  network.readCallback = () => ({ accepted: true, news: told });
  const read = (news: CallbackNews) => {
    told.splice(0, told.length, news);
    return checked.readCallback({} as RawCallback);
  };
  for (const id of hostile) {
    const answer = { state: 'processing' } as const;
    assert.deepEqual(read({ operation: 'collection', reference: id, answer }), {
      accepted: false,
      reason: 'malformed',
    });
    const [collection] = collections(id);
    const [payout] = payouts(id);
    assert.ok(collection && payout);
    for (const news of [
      { operation: 'collection', reference: 'Shop1', answer: collection } as const,
      { operation: 'payout', reference: 'Shop1', answer: payout } as const,
    ]) {
      const reading = read(news);
      assert.ok(reading.accepted);
      assert.deepEqual(
        reading.news.map(({ reference, answer: told }) => [reference, told.state]),
        [['Shop1', 'unknown']],
      );
    }
  }
});
