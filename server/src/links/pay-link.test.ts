import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deleteLink } from './manage-links.ts';
import { createCollectWorld, refusalOf, type CollectWorld } from './collect-world.corpus.ts';
import { createNetworkRegistry } from '../networks/registry.ts';
import { ScriptedNetwork } from '../networks/scripted-network.corpus.ts';
import { payAtTerminal } from './pay-at-terminal.ts';
import { findPaymentOfForm } from '../payments/payment-of-form.ts';
import { findLinkByToken, payLink } from './pay-link.ts';

let world: CollectWorld;

before(async () => {
  world = await createCollectWorld();
});
after(async () => {
  await world.verify();
  await world.close();
});

test('without an available network, a link or terminal creates no payment and says to tell the shop', async () => {
  const [link, till] = [await world.newLink({ amountMinor: 1_050n }), await world.newTerminal()];
  const live = { ...world.merchant, testMode: false };
  const shopMessage = 'state_conflict no field: The shop cannot take this payment at the moment. Tell the shop.';
  assert.equal(await refusalOf(world.throughLink(link, {}, live)), shopMessage);
  assert.equal(await refusalOf(world.atCounter(till, 1_050n, live)), shopMessage);

  const wholeDalasi = createNetworkRegistry([new ScriptedNetwork('wave', { amountStepMinor: 100n })]);
  const at = (amountMinor: bigint) =>
    world.db.withTransaction((tx) =>
      payAtTerminal(tx, { ...world.context, networks: wholeDalasi }, world.merchant, till, {
        amountMinor,
        formHash: null,
      }),
    );
  assert.match(
    await refusalOf(at(1_050n)),
    /^network_not_available amount: No available network accepts D10\.50\. Use an amount in whole dalasi\.$/,
  );
  assert.equal((await at(1_100n)).amountMinor, 1_100n);
});

test('a link payment creates an intent with the link’s terms, and its charge names the link', async () => {
  const link = await world.newLink({
    amountMinor: 15_050n,
    description: 'Second term',
    metadata: { term: 2 },
    redirectUrl: 'https://school.example/thanks',
    cancelUrl: 'https://school.example/back',
    customFields: ['Student', 'Class'],
  });
  const first = await world.throughLink(link, { customFieldsValues: { Class: ' 5b ', Student: 'Awa' } });
  const second = await world.throughLink(link);
  assert.notEqual(first.id, second.id);
  assert.deepEqual(
    [first.title, first.description, first.returnUrl, first.cancelUrl, first.amountMinor, first.source],
    ['School fees', 'Second term', link.redirectUrl, link.cancelUrl, 15_050n, 'link'],
  );
  assert.deepEqual(await world.events(first), ['payment_intent.created']);
  const record = await world.record(await world.complete(first));
  assert.deepEqual(
    [record['payment_link_id'], record['metadata'], record['custom_fields_values'], record['terminal_id']],
    [link.id, { term: 2 }, { Student: 'Awa', Class: '5b' }, null],
  );
  assert.deepEqual([record['status'], record['amount']], ['completed', 150.5]);
  const other = await world.record(await world.complete(second));
  assert.deepEqual([other['payment_link_id'], other['custom_fields_values']], [link.id, {}]);
});

test('an entered amount must be at least the minimum and within the bounds', async () => {
  const link = await world.newLink({ minAmountMinor: 5_000n });
  assert.equal((await world.throughLink(link, { amountMinor: 5_000n })).amountMinor, 5_000n);
  assert.equal((await world.throughLink(link, { amountMinor: 5_001n })).amountMinor, 5_001n);
  const refused: [bigint | null, string][] = [
    [4_999n, 'amount_out_of_bounds amount: The shop asks for at least D50.00 here.'],
    [null, 'invalid_request amount: Enter the amount to pay.'],
    [100_000_001n, 'amount_out_of_bounds amount: The amount must be from D0.01 to D1,000,000.00.'],
  ];
  for (const [amountMinor, why] of refused)
    assert.equal(await refusalOf(world.throughLink(link, { amountMinor })), why);
  const open = await world.newLink();
  assert.equal((await world.throughLink(open, { amountMinor: 1n })).amountMinor, 1n);
  const nothing = await refusalOf(world.throughLink(open, { amountMinor: 0n }));
  assert.equal(nothing, 'amount_out_of_bounds amount: The amount must be from D0.01 to D1,000,000.00.');
});

test('a link with a fixed amount refuses any other amount', async () => {
  const link = await world.newLink({ amountMinor: 20_000n });
  assert.equal((await world.throughLink(link, { amountMinor: 20_000n })).amountMinor, 20_000n);
  const less = await refusalOf(world.throughLink(link, { amountMinor: 100n }));
  assert.equal(less, 'invalid_request amount: The shop now asks for D200.00 here.');
});

test('answers are stored by label and trimmed; none is required, and a long one is refused', async () => {
  const link = await world.newLink({ amountMinor: 100n, customFields: ['Name', 'Class', 'constructor'] });
  const storedValues = async (customFieldsValues: Record<string, string>) =>
    (await world.throughLink(link, { customFieldsValues })).customFieldsValues;
  assert.equal(await storedValues({}), null);
  assert.equal(await storedValues({ Name: '  ', Class: '' }), null);
  assert.deepEqual(await storedValues({ Class: '5b', Other: 'not asked', Name: ' Awa ' }), {
    Name: 'Awa',
    Class: '5b',
  });
  assert.deepEqual(await storedValues({ Name: 'Awa\u0000\r\nCeesay\t' }), { Name: 'Awa Ceesay' });
  assert.deepEqual(await storedValues({ Name: 'Awa \ud83d' }), { Name: 'Awa \ufffd' }, 'half of a surrogate pair');
  assert.deepEqual(await storedValues({ Name: 'x'.repeat(200) }), { Name: 'x'.repeat(200) });
  assert.equal(
    await refusalOf(world.throughLink(link, { customFieldsValues: { Class: 'x'.repeat(201) } })),
    'invalid_request custom_fields.1: Class: write at most 200 characters.',
  );
});

test('an inactive link accepts no payment until active again, and a deleted one never', async () => {
  const link = await world.newLink({ amountMinor: 100n });
  await world.changeLink(link, { active: false });
  const inactive =
    'state_conflict no field: This payment link is not active. Ask the shop whether it can still be paid.';
  assert.equal(await refusalOf(world.throughLink(link)), inactive);
  await world.changeLink(link, { active: true });
  const begun = await world.throughLink(link);
  await world.db.withTransaction((tx) => deleteLink(tx, world.context.clock, link));
  assert.equal(
    await refusalOf(world.throughLink(link)),
    'state_conflict no field: This payment link was deleted. Ask the shop for a new one.',
  );
  // Payments that have started can still be paid.
  assert.equal((await world.complete(begun)).status, 'completed');
});

test('a link is found by its token, also inactive or deleted; another merchant cannot be paid through it', async () => {
  const link = await world.newLink({ amountMinor: 100n });
  const find = (token: string) => findLinkByToken(world.db, world.context.merchants, token);
  assert.deepEqual((await find(link.token))?.link, link);
  assert.equal((await find(link.token))?.merchant.id, world.merchant.id);
  const swapped = link.token.slice(0, -1) + (link.token.endsWith('0') ? '1' : '0');
  for (const token of ['', 'nonsense', link.id, `${link.token}0`, swapped, `00000000${link.token.slice(8)}`]) {
    assert.equal(await find(token), undefined, token);
  }
  await world.db.withTransaction((tx) => deleteLink(tx, world.context.clock, link));
  assert.notEqual((await find(link.token))?.link.deletedAt, null);
  const mine = await world.newLink({ amountMinor: 100n });
  const stranger = await world.newMerchant();
  assert.match(await refusalOf(world.throughLink(mine, {}, stranger)), /^state_conflict .*deleted/);
});

test('a payment is split by the link’s split at its creation', async () => {
  const [awa, binta] = [await world.newSubAccount(20n), await world.newSubAccount(50n)];
  const link = await world.newLink({ amountMinor: 10_000n, subAccountId: awa });
  const before = await world.throughLink(link);
  await world.changeLink(link, { subAccountId: binta });
  const after = await world.throughLink(link);
  await world.changeLink(link, { subAccountId: null });
  const unshared = await world.throughLink(link);
  for (const intent of [before, after, unshared]) await world.complete(intent);
  assert.deepEqual(
    [await world.balance(`sub:${awa}`), await world.balance(`sub:${binta}`), unshared.shares],
    [2_000n, 5_000n, []],
  );
});

test('an entered amount that is too small to split is refused at the payer’s field', async () => {
  const link = await world.newLink({ subAccountId: await world.newSubAccount(20n) });
  assert.equal(
    await refusalOf(world.throughLink(link, { amountMinor: 99n })),
    'split_exceeds_amount amount: The amount is too small here. Enter more.',
  );
  assert.equal((await world.throughLink(link, { amountMinor: 100n })).shares.length, 1);
});

test('an error that only the shop can correct tells the payer to ask the shop', async () => {
  const awa = await world.newSubAccount(20n);
  const [fixed, open] = [
    await world.newLink({ amountMinor: 100n, subAccountId: awa }),
    await world.newLink({ subAccountId: awa }),
  ];
  await world.pauseSubAccount(awa);
  const why = 'state_conflict no field: The shop cannot take this payment at the moment. Tell the shop.';
  assert.equal(await refusalOf(world.throughLink(fixed)), why);
  assert.equal(await refusalOf(world.throughLink(open, { amountMinor: 500n })), why);
});

test('a refused payment stores nothing', async () => {
  const link = await world.newLink({ minAmountMinor: 5_000n });
  const count = async () => Reflect.get(Object(await world.asOwner('SELECT count(*) FROM payment_intents')), 'rows');
  const before: unknown = await count();
  await refusalOf(world.throughLink(link, { amountMinor: 1n }));
  assert.deepEqual(await count(), before);
});

test('a network and number start the first attempt with the payment, and one refused creates nothing', async () => {
  const link = await world.newLink({ amountMinor: 45_000n });
  const intent = await world.throughLink(link, { choice: { network: 'wave', accountNumber: '7012345' } });
  assert.deepEqual([intent.status, intent.attempts], ['processing', 1n]);
  assert.deepEqual(await world.events(intent), ['payment_intent.created']);
  for (const [choice, refusal] of [
    [{ network: 'none', accountNumber: '7012345' }, /^network_not_available network: /],
    [{ network: 'wave', accountNumber: '12' }, /^account_number_invalid account_number: /],
    [{ network: 'wave', accountNumber: null }, /^account_number_invalid account_number: /],
  ] as const) {
    assert.match(await refusalOf(world.throughLink(link, { choice, formHash: 'refused' })), refusal);
  }
  assert.equal(
    await findPaymentOfForm(world.db, world.clock, { merchantId: link.merchantId, formHash: 'refused' }),
    undefined,
  );
});

test('a live number that was prompted a moment ago is refused beside its field, and creates nothing', async () => {
  const networks = createNetworkRegistry([new ScriptedNetwork('wave', { testMode: false })]);
  const live = { ...world.merchant, testMode: false, liveApprovedAt: new Date(0) };
  const link = await world.newLink({ amountMinor: 45_000n });
  const choice = { network: 'wave', accountNumber: '3012345' };
  const pay = (formHash: string) =>
    world.db.withTransaction((tx) =>
      payLink(tx, { ...world.context, networks }, live, link, {
        amountMinor: null,
        shownTotalMinor: null,
        customFieldsValues: {},
        choice,
        formHash,
      }),
    );
  assert.equal((await pay('first')).status, 'processing');
  assert.match(
    await refusalOf(pay('second')),
    /^network_not_available account_number: A prompt was just sent to this number/,
  );
  assert.equal(
    await findPaymentOfForm(world.db, world.clock, { merchantId: link.merchantId, formHash: 'second' }),
    undefined,
  );
});
