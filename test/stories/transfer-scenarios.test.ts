import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { setFeeRule } from '../../server/src/merchants/manage-rules.ts';
import { allNetworks } from '../../server/src/merchants/rules.ts';
import { caseCommands } from '../../server/src/operator/case-commands.ts';
import { eventKinds } from '../../server/src/events/kinds.ts';
import { uuidV7 } from '../../server/src/kit/ids.ts';
import { post } from '../../server/src/ledger/post.ts';
import { seededRandom } from '../../server/src/kit/random.ts';
import { startCallbackReceiver, type CallbackReceiver } from '../harness/callback-receiver.ts';
import { eventually } from '../harness/eventually.ts';
import { startTransferStory, type TransferStory } from '../harness/transfer-story.ts';

// The table in docs/testing-with-the-simulator.md, "Paying out", row by row, through the API.
// Every transfer is D100.00 with a fee of D1.50.

const secondMs = 1_000;
const minuteMs = 60 * secondMs;

let story: TransferStory;
let receiver: CallbackReceiver;

before(async () => {
  story = await startTransferStory();
  const fee = { percentHundredths: 0n, fixedMinor: 150n, minimumMinor: 0n, maximumMinor: null };
  await setFeeRule(story.service.db, 'default', { ...fee, operation: 'transfer', network: allNetworks });
  // A merchant is cached for three seconds.
  await story.clock.jump(4 * secondMs);
  receiver = await startCallbackReceiver();
  await story.subscribe(receiver, [...eventKinds]);
});

afterEach(() => story.verify());

after(async () => {
  await story.stop();
  await receiver.close();
});

const held = 'held payable_available → held 10150';
const paid = ['transfer held → float:gsma-test 10000', 'transfer held → fees 150'];
const released = 'released held → payable_available 10150';
const created = 'transfer.created';

/** A transfer's status, its money and its events. */
async function outcomeOf(id: string) {
  const transfer = await story.retrieve(id);
  const events = await story.events(id);
  const hasAllEvents = () => receivedKinds(id).length >= events.length;
  await eventually('the events of the transfer have arrived', async () => {
    await story.settle();
    return hasAllEvents();
  });
  assert.deepEqual(receivedKinds(id).toSorted(), events.toSorted(), 'each event was received once');
  return {
    status: transfer['status'],
    failure: transfer['failure_code'],
    waitingFor: transfer['waiting_for'],
    review: transfer['review'],
    events,
    movements: await story.movements(id),
    cases: await story.cases(id),
    payouts: (await story.payouts(id)).map(({ status }) => status),
  };
}

/** The kinds of a transfer's events that the merchant's server received. */
function receivedKinds(id: string): string[] {
  const events = receiver.received.map(({ body }) => JSON.parse(body.toString()) as ReceivedEvent);
  return events.filter(({ data }) => data.id === id).map(({ event }) => event);
}

interface ReceivedEvent {
  event: string;
  data: { id: string };
}

const nothingSpecial = { failure: null, waitingFor: null, review: null, cases: [] };
const pending = { ...nothingSpecial, status: 'pending', events: [created], movements: [held] };
const completed = {
  ...nothingSpecial,
  status: 'completed',
  events: [created, 'transfer.succeeded'],
  movements: [held, ...paid],
  payouts: ['completed'],
};

/** Runs a row, at whose end the merchant has this many dalasi less. */
async function costs(dalasi: number, row: () => Promise<void>): Promise<void> {
  const before = await story.payoutBalance();
  await row();
  assert.equal(Math.round((before - (await story.payoutBalance())) * 100) / 100, dalasi);
}

test('0001: completed at once', async () => {
  await costs(101.5, async () => {
    const id = await story.transferSettled('7000001');
    assert.deepEqual(await outcomeOf(id), completed);
    const {
      completed_at: completedAt,
      network_transaction_id: transaction,
      network_reference: reference,
    } = await story.retrieve(id);
    const [payout] = await story.payouts(id);
    assert.deepEqual(
      [completedAt, transaction, reference],
      [story.clock.now().toISOString(), payout?.transactionId, payout?.transactionId],
    );
    assert.deepEqual(await story.timeline(id), [created, 'sent_to_network', 'transfer.succeeded']);
  });
});

for (const [number, failure] of [
  ['7000002', 'account_not_found'],
  ['7000003', 'account_blocked'],
] as const) {
  test(`${number.slice(-4)}: refused (${failure}), and amount and fee are back`, async () => {
    await costs(0, async () => {
      const id = await story.transferSettled(number);
      assert.deepEqual(await outcomeOf(id), {
        ...nothingSpecial,
        status: 'failed',
        failure,
        events: [created, 'transfer.failed'],
        movements: [held, released],
        payouts: ['failed'],
      });
      assert.match(String((await story.retrieve(id))['failure_reason']), /\w.*\.$/);
      assert.equal((await story.api.post(`/v1/transfers/${id}/cancel`)).status, 409);
    });
  });
}

test('0004: a transfer pending for a day opens a case, and its money stays held', async () => {
  await costs(101.5, async () => {
    const id = await story.transferSettled('7000004');
    const waiting = { ...pending, payouts: ['pending'] };
    assert.deepEqual(await outcomeOf(id), waiting);
    for (let hour = 0; hour < 24; hour += 1) await story.advance(60 * minuteMs);
    assert.deepEqual(await outcomeOf(id), { ...waiting, review: 'outcome_unknown', cases: ['outcome_unknown'] });
    await story.advance(7 * 24 * 60 * minuteMs);
    assert.deepEqual(await outcomeOf(id), { ...waiting, review: 'outcome_unknown', cases: ['outcome_unknown'] });
    assert.equal((await story.api.post(`/v1/transfers/${id}/cancel`)).body['code'], 'state_conflict');
    assert.deepEqual(
      (await story.timeline(id)).filter((kind) => kind.startsWith('sent')),
      ['sent_to_network'],
    );
  });
});

test('0005: no response is no failure, and the transfer is found completed 5 s later', async () => {
  await costs(101.5, async () => {
    const id = await story.transfer('7000005');
    await story.advancePastTimeout(id, 3 * secondMs);
    assert.deepEqual(await outcomeOf(id), { ...pending, payouts: ['pending'] });
    await story.advance(2 * secondMs);
    await story.advance(2 * secondMs);
    assert.deepEqual(await outcomeOf(id), completed);
    assert.deepEqual(
      (await story.timeline(id)).filter((kind) => kind.startsWith('sent')),
      ['sent_to_network'],
    );
  });
});

test('0006: no response holds the money until the transfer is found failed 5 s later', async () => {
  await costs(0, async () => {
    const id = await story.transfer('7000006');
    await story.advancePastTimeout(id, 3 * secondMs);
    assert.deepEqual(await outcomeOf(id), { ...pending, payouts: ['pending'] });
    await story.advance(2 * secondMs);
    await story.advance(2 * secondMs);
    assert.deepEqual(await outcomeOf(id), {
      ...nothingSpecial,
      status: 'failed',
      failure: 'refused_by_network',
      events: [created, 'transfer.failed'],
      movements: [held, released],
      payouts: ['failed'],
    });
  });
});

test('0007: success reported three times and out of order is one payout', async () => {
  await costs(101.5, async () => {
    const id = await story.transferSettled('7000007');
    assert.deepEqual(await outcomeOf(id), { ...pending, payouts: ['pending'] });
    await story.advance(secondMs);
    for (let report = 0; report < 4; report += 1) await story.advance(200);
    assert.deepEqual(await outcomeOf(id), completed);
  });
});

test('0008: while the network is down a transfer waits, can be cancelled, and is sent on recovery', async () => {
  await costs(101.5, async () => {
    const [waits, dropped] = [await story.transferSettled('7000008'), await story.transferSettled('7000008')];
    for (const id of [waits, dropped]) {
      assert.deepEqual(await outcomeOf(id), { ...pending, waitingFor: 'network_unavailable', payouts: [] });
    }
    const cancelled = await story.api.post(`/v1/transfers/${dropped}/cancel`);
    assert.deepEqual([cancelled.status, cancelled.body['status']], [200, 'cancelled']);
    for (let second = 0; second < 8; second += 1) await story.advance(secondMs);
    assert.deepEqual(await outcomeOf(waits), completed);
    assert.deepEqual(await outcomeOf(dropped), {
      ...nothingSpecial,
      status: 'cancelled',
      events: [created, 'transfer.cancelled'],
      movements: [held, released],
      payouts: [],
    });
  });
});

for (const [number, waitMs] of [
  ['7000009', 2 * secondMs],
  ['7000011', 30 * secondMs],
] as const) {
  test(`${number.slice(-4)}: completed after ${waitMs / secondMs} s and not before`, async () => {
    await costs(101.5, async () => {
      const id = await story.transferSettled(number);
      await story.advance(waitMs - 1);
      assert.deepEqual(await outcomeOf(id), { ...pending, payouts: ['pending'] });
      await story.advance(1);
      await story.advance(minuteMs);
      assert.deepEqual(await outcomeOf(id), completed);
    });
  });
}

test('0010: a transfer waits while the float is empty, however long, and is sent once it is filled', async () => {
  await costs(101.5, async () => {
    const id = await story.transferSettled('7000010');
    const waiting = { ...pending, waitingFor: 'float_empty', payouts: [] };
    assert.deepEqual(await outcomeOf(id), waiting);
    for (let hour = 0; hour < 30; hour += 1) await story.advance(60 * minuteMs);
    assert.deepEqual(await outcomeOf(id), waiting, 'it never was at the network, so nobody has to ask there');
    const line = { account: story.merchant.merchant.shortId, network: 'aps', number: '7000010' };
    await story.phone.payouts.setFloat(line, 'filled');
    for (let minute = 0; minute < 11; minute += 1) await story.advance(minuteMs);
    assert.deepEqual(await outcomeOf(id), completed);
  });
});

test('0012: a reversed transfer returns amount and fee to the merchant, with a case', async () => {
  await costs(0, async () => {
    const id = await story.transferSettled('7000012');
    assert.deepEqual(await outcomeOf(id), completed);
    await story.advance(2 * secondMs);
    assert.deepEqual(await outcomeOf(id), {
      ...nothingSpecial,
      status: 'reversed',
      events: [created, 'transfer.succeeded', 'transfer.reversed'],
      movements: [
        held,
        ...paid,
        'transfer_reversed fees → payable_available 150',
        'transfer_reversed float:gsma-test → payable_available 10000',
      ],
      cases: ['network_reversal'],
      payouts: ['reversed'],
    });
  });
});

test('the test numbers behave the same on every network, and any other number is paid at once', async () => {
  for (const network of ['wave', 'afrimoney', 'qmoney'] as const) {
    assert.equal(await story.statusOf(await story.transferSettled('7001234', { network })), 'completed', network);
    const refused = await story.retrieve(await story.transferSettled('7000002', { network }));
    assert.deepEqual([refused['status'], refused['failure_code']], ['failed', 'account_not_found'], network);
  }
});

/** Leaves the merchant with no money and a debt of 50 dalasi, as after a reversal. */
async function fallIntoDebt(owner: TransferStory): Promise<void> {
  const { db, clock } = owner.service;
  const { id: merchantId, currency } = owner.merchant.merchant;
  const random = seededRandom('debt');
  const newId = (): string => uuidV7(clock, random);
  const source = { type: 'test', id: newId() };
  const amountMinor = await owner.balance('payable_available');
  const movements = [
    { debit: 'payable_available', credit: 'test_funding', amountMinor },
    { debit: 'receivable_merchant', credit: 'float:gsma-test', amountMinor: 5_000n },
  ] as const;
  await db.withTransaction((tx) =>
    post(tx, { newId }, { merchantId, currency, flow: 'test', source, movements, at: clock.now() }),
  );
}

test('a transfer is refused while the merchant owes, and accepted once a payment repaid the debt', async () => {
  const owner = await story.forAnotherMerchant();
  await fallIntoDebt(owner);
  for (let time = 0; time < 2; time += 1) {
    const refused = await owner.request('7000001', {}, 'in debt');
    assert.deepEqual([refused.status, refused.body['code']], [409, 'merchant_owes']);
  }
  const owing = await owner.api.get('/v1/balances');
  assert.deepEqual([owing.body['owed_balance'], owing.body['payout_balance']], [50, 0]);
  await owner.paySettled('7000001');
  // While the chore locks the debt, the collection leaves it to the chore's next run.
  await eventually('the debt is repaid', async () => {
    await owner.settle();
    const { body } = await owner.api.get('/v1/balances');
    return body['owed_balance'] === undefined && body['payout_balance'] === 400.5;
  });
  assert.equal((await owner.request('7000001', {}, 'in debt')).status, 201);
  const lines = await owner.api.get('/v1/balances/movements?account=owed_balance');
  assert.deepEqual((lines.body['data'] as { flow: string }[]).map(({ flow }) => flow).toSorted(), [
    'debt_repaid',
    'test',
  ]);
  await owner.settle();
});

test('/metrics shows a merchant’s debt and its case, with amount and age, until it is repaid', async () => {
  const shop = await story.forAnotherMerchant();
  await shop.pay('7000012', { amount: 300 });
  await eventually('the payment is booked', async () => {
    await shop.settle();
    return (await shop.payoutBalance()) === 1_000_300;
  });
  // The whole balance less two fees.
  for (const amount of [1_000_000, 297]) {
    assert.equal((await shop.request('7000001', { amount })).status, 201);
  }
  await shop.settle();
  assert.equal(await shop.payoutBalance(), 0);
  await eventually('the network takes it back', async () => {
    await shop.advance(5_000);
    return (await shop.api.get('/v1/balances')).body['owed_balance'] === 300;
  });
  assert.equal(await story.gauge('dalasi_owed_bututs{kind="receivable_merchant"}'), 30_000);
  await eventually('the debt has its case', async () => {
    await shop.advance(5_000);
    return (await story.gauge('dalasi_cases_open{kind="merchant_owes"}')) === 1;
  });
  const ages = async () => [
    (await story.gauge('dalasi_owed_oldest_seconds{kind="receivable_merchant"}')) ?? 0,
    (await story.gauge('dalasi_cases_oldest_seconds{kind="merchant_owes"}')) ?? 0,
  ];
  const before = await ages();
  await shop.advance(60 * minuteMs);
  const grown = (await ages()).map((seconds, index) => seconds - (before[index] ?? 0));
  assert.deepEqual(grown, [3_600, 3_600]);
  assert.match(
    await story.operate(caseCommands, 'cases list'),
    /Another Shop \(test\) +receivable_merchant +GMD 300\.00/,
  );
  await shop.paySettled('7000001', { amount: 300 });
  await eventually('it is repaid, by the payment or by the chore', async () => {
    await shop.advance(5_000);
    return (await shop.api.get('/v1/balances')).body['owed_balance'] === undefined;
  });
  assert.equal(await story.gauge('dalasi_owed_bututs{kind="receivable_merchant"}'), 0);
  assert.equal(await story.gauge('dalasi_owed_oldest_seconds{kind="receivable_merchant"}'), 0);
});

test('/metrics shows every limiter of the service with the number of refusals', async () => {
  const searching = ['searches', 'bulk resends', 'balance', 'history', 'posters'];
  for (const limiter of [...searching, 'outbox', 'webhook deliveries']) {
    assert.equal(await story.gauge(`dalasi_limiter_refused_total{limiter="${limiter}"}`), 0, limiter);
  }
});

test('/metrics shows money in suspense and its case, with amount and age', async () => {
  const shop = await story.forAnotherMerchant();
  assert.equal(await story.gauge('dalasi_suspense_bututs{currency="GMD"}'), 0);
  assert.equal(await story.gauge('dalasi_ledger_wrong'), 0, 'a worker has verified the ledger');
  assert.ok((await story.gauge('dalasi_ledger_verified_seconds')) !== undefined);
  await shop.pay('7000010', { amount: 300 });
  await eventually('another amount came', async () => {
    await shop.settle();
    return (await story.gauge('dalasi_cases_open{kind="amount_mismatch"}')) === 1;
  });
  const suspense = await shop.balance('suspense');
  assert.ok(suspense > 0n);
  assert.equal(await story.gauge('dalasi_suspense_bututs{currency="GMD"}'), Number(suspense));
  const before = (await story.gauge('dalasi_cases_oldest_seconds{kind="amount_mismatch"}')) ?? 0;
  await shop.advance(60 * minuteMs);
  assert.equal((await story.gauge('dalasi_cases_oldest_seconds{kind="amount_mismatch"}')) ?? 0, before + 3_600);
  assert.ok(((await story.gauge('dalasi_cases_open_bututs{kind="amount_mismatch"}')) ?? 0) > 0);
  const waits = '{account="suspense",environment="test",cause="amount_mismatch"}';
  assert.equal(await story.gauge(`dalasi_clearing_bututs${waits}`), Number(suspense));
  assert.equal(await story.gauge(`dalasi_clearing_late_bututs${waits}`), 0);
  assert.ok(((await story.gauge(`dalasi_clearing_oldest_seconds${waits}`)) ?? 0) >= 3_600);
  const paid = 'dalasi_payments_total{network="aps",environment="test",outcome="completed"}';
  const earlier = (await story.gauge(paid)) ?? 0;
  await shop.pay('7000001', { amount: 300 });
  await eventually('a payment is counted by its outcome', async () => {
    await shop.settle();
    return (await story.gauge(paid)) === earlier + 1;
  });
  const nothing = 'dalasi_clearing_bututs{account="suspense",environment="test",cause="unexplained"}';
  assert.equal(await story.gauge(nothing), 0, 'every open item has a cause');
  await story.service.database.asOwner(`UPDATE cases SET status = 'resolved' WHERE kind = 'amount_mismatch'`);
  await shop.advance(4 * 24 * 60 * minuteMs);
  assert.equal(await story.gauge(nothing.replace('bututs', 'late_bututs')), Number(suspense), 'its case is lost');
});
