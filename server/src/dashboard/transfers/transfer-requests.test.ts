import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openDashboardWorld, type DashboardWorld, type Member } from '../../../../test/harness/dashboard-world.ts';
import { asOwner } from '../../../../test/harness/tables.ts';
import { hiddenFields, press, sendForm } from '../patterns/form.corpus.ts';

let world: DashboardWorld;
let owner: Member;
let finance: Member;
let cashier: Member;

const typed = { amount: '700', network: 'wave', account_number: '7000001', beneficiary_name: 'Awa Ceesay' };

before(async () => {
  world = await openDashboardWorld();
  [owner, finance, cashier] = [
    await world.signIn('owner'),
    await world.signIn('finance'),
    await world.signIn('cashier'),
  ];
  const data = { amount: 10_000, network: 'aps', account_number: '7000001', title: 'Paid' };
  await world.api.post('/v1/payments', { data });
  await world.service.app.drain();
  // A number that was paid before asks for no second factor.
  const known = await world.api.post('/v1/transfers', { ...typed, amount: 100 }, { 'idempotency-key': 'known' });
  assert.equal(known.status, 201, known.text);
  await world.service.app.drain();
  const limit = await sendForm(owner, world.at('/settings/limits/payouts'), {
    above: '500',
    second_factor: owner.code(),
  });
  assert.equal(limit.status, 303, limit.text);
});
after(() => world.stop());

async function countTransfers(): Promise<number> {
  const { body } = await world.api.get('/v1/transfers');
  return (body.meta as { total: number }).total;
}

function setLimit(limit: bigint | null): Promise<unknown[]> {
  return asOwner(world.service, 'UPDATE businesses SET approve_transfers_above = $1 WHERE id = $2', [
    limit,
    world.business.test.merchant.businessId,
  ]);
}

/** Asks for a payout of D700 and returns its page. */
async function requestPayout(member: Member): Promise<string> {
  const address = world.at('/transfers/new');
  const shown = await sendForm(member, address, typed);
  assert.match(shown.text, /<h1>Ask to pay out D700\.00\?<\/h1>/);
  const fields = hiddenFields(shown.text);
  const first = await press(member, address, fields);
  assert.equal(first.status, 303, first.text);
  assert.equal((await press(member, address, fields)).location, first.location, 'two taps ask once');
  assert.match(first.location ?? '', /\/transfers\/requests\/[0-9a-f-]{36}$/);
  return new URL(first.location ?? '', world.service.url).href;
}

type Press = (code?: string) => ReturnType<typeof press>;

/** The form to approve as another owner sees it, each time somebody with an unused code; it can be sent when it no longer holds. */
async function approval(page: string): Promise<Press> {
  const member = await world.signIn('owner');
  const fields = hiddenFields(await (await member.get(`${page}/approve`)).text());
  return (code = member.code()) => press(member, `${page}/approve`, { ...fields, second_factor: code });
}

async function refusal(member: Member, page: string): Promise<Press> {
  const fields = hiddenFields(await (await member.get(`${page}/decline`)).text());
  return () => press(member, `${page}/decline`, fields);
}

test('a payout above the limit is paid out once, when another person approves it with a second factor', async () => {
  const before = await countTransfers();
  const page = await requestPayout(finance);
  assert.equal(await countTransfers(), before, 'nothing is sent');
  const mails = await asOwner(world.service, 'SELECT id FROM mails');
  assert.equal(mails.length, 2, 'of the limit and of the request');
  assert.match(await (await owner.get(world.at(''))).text(), /asks to pay out D700\.00/);
  assert.equal((await cashier.get(page)).status, 403);
  assert.match(await (await finance.get(`${page}/approve`)).text(), /Somebody else who may pay out has to approve it/);
  const fields = hiddenFields(await (await owner.get(`${page}/approve`)).text());
  const own = await press(finance, `${page}/approve`, { ...fields, second_factor: finance.code() });
  assert.notEqual(own.status, 303, own.text);
  const [approve, decline] = [await approval(page), await refusal(finance, page)];
  assert.equal((await approve('')).status, 400);
  assert.equal(await countTransfers(), before);
  const approved = await approve();
  assert.equal(approved.status, 303, approved.text);
  assert.match(approved.location ?? '', /\/transfers\/[0-9a-f-]{36}$/);
  assert.match(await (await finance.get(page)).text(), /Approved.*See the transfer/s);
  assert.equal((await approve()).location, approved.location, 'as when the response was lost');
  assert.equal((await decline()).status, 409, 'somebody else has decided');
  assert.equal(await countTransfers(), before + 1);
});

test('of an approval and a refusal at once one counts, and money moves only with the approval', async () => {
  for (let round = 0; round < 5; round += 1) {
    const before = await countTransfers();
    const page = await requestPayout(finance);
    const [approve, decline] = [await approval(page), await refusal(finance, page)];
    const [one, other] = await Promise.all([approve(), decline()]);
    assert.deepEqual([one.status, other.status].toSorted(), [303, 409], `${one.text}${other.text}`);
    assert.equal(await countTransfers(), before + (one.status === 303 ? 1 : 0));
  }
});

test('a payout whose approval is refused for want of money is paid out once the money is there', async () => {
  const page = await requestPayout(finance);
  for (const key of ['most of it', 'the rest']) {
    const { body: has } = await world.api.get('/v1/balances');
    const all = { ...typed, amount: Math.min(1_000_000, Number(has['payout_balance'])) };
    assert.equal((await world.api.post('/v1/transfers', all, { 'idempotency-key': key })).status, 201);
  }
  const before = await countTransfers();
  const refused = await (await approval(page))();
  assert.equal(refused.status, 400);
  assert.match(refused.text, /Insufficient balance/);
  const data = { amount: 20_000, network: 'aps', account_number: '7000001' };
  assert.equal((await world.api.post('/v1/payments', { data })).status, 201);
  await world.service.app.drain();
  const approved = await (await approval(page))();
  assert.equal(approved.status, 303, approved.text);
  assert.equal(await countTransfers(), before + 1);
});

test('a declined payout and one of a week ago can no longer be approved', async () => {
  const before = await countTransfers();
  const declined = await requestPayout(finance);
  const approve = await approval(declined);
  const takeBack = await refusal(finance, declined);
  const withdrawn = await takeBack();
  assert.equal(withdrawn.status, 303, 'who asked may take it back');
  assert.equal((await takeBack()).location, withdrawn.location, 'as when the response was lost');
  assert.equal((await approve()).status, 409);
  const old = await requestPayout(finance);
  const approveLate = await approval(old);
  await asOwner(world.service, `UPDATE transfer_requests SET created_at = created_at - interval '7 days'`);
  assert.match(await (await owner.get(old)).text(), /Expired/);
  assert.equal((await approveLate()).status, 409);
  assert.equal(await countTransfers(), before);
});

/** Asks for a payout of a new sub-account that has more than the limit; returns its id and the request's page. */
async function requestSubAccountPayout(): Promise<{ id: string; page: string }> {
  const destination = { settlement_code: 'wave', account_number: '7000001' };
  const made = await world.api.post('/v1/sub-accounts', { name: 'Partner shop', percentage: 50, ...destination });
  const id = String(made.body['id']);
  const data = { amount: 2_000, network: 'aps', account_number: '7000001', sub_account: id };
  assert.equal((await world.api.post('/v1/payments', { data })).status, 201);
  await world.service.app.drain();
  const address = world.at(`/sub-accounts/${id}/payout?amount=700`);
  const shown = await (await finance.get(address)).text();
  assert.match(shown, /<h1>Ask to pay out Partner shop<\/h1>/);
  const fields = hiddenFields(shown);
  const whole = Object.fromEntries(Object.entries(fields).filter(([name]) => name !== 'amount'));
  assert.equal((await press(finance, address, whole)).status, 400, 'all that it has, without saying how much');
  const requested = await press(finance, address, fields);
  assert.match(requested.location ?? '', /\/transfers\/requests\//, requested.text);
  return { id, page: new URL(requested.location ?? '', world.service.url).href };
}

test('a sub-account’s payout above the limit waits for a second person, and goes where it was requested', async () => {
  const before = await countTransfers();
  const { id, page } = await requestSubAccountPayout();
  assert.equal(await countTransfers(), before, 'nothing is sent');
  assert.match(await (await finance.get(`${page}/approve`)).text(), /Somebody else who may pay out has to approve it/);
  const approveOnce = await approval(page);
  const approved = await approveOnce();
  assert.equal(approved.status, 303, approved.text);
  assert.equal((await approveOnce()).location, approved.location);
  const [paid, ...others] = await asOwner<{ amount: string }>(
    world.service,
    'SELECT amount FROM transfers WHERE sub_account_id = $1',
    [id],
  );
  assert.deepEqual([paid?.amount, others], ['70000', []]);
  const redirected = await requestSubAccountPayout();
  const approve = await approval(redirected.page);
  const changed = await world.api.send('PUT', `/v1/sub-accounts/${redirected.id}`, {
    body: JSON.stringify({ account_number: '7000002' }),
    headers: { 'content-type': 'application/json' },
  });
  assert.equal(changed.status, 200, changed.text);
  const refused = await approve();
  assert.equal(refused.status, 409);
  assert.match(refused.text, /another destination/);
  assert.equal(await countTransfers(), before + 1);
});

test('the database refuses an approval by whoever asked', async () => {
  const page = await requestPayout(finance);
  const insert = asOwner(
    world.service,
    `INSERT INTO transfer_decisions
       SELECT merchant_id, id, requested_by, requested_by, '', 'approved', id, now() FROM transfer_requests WHERE id = $1`,
    [page.split('/').at(-1)],
  );
  await assert.rejects(insert, /transfer_decisions_second_person_check/);
});

test('two presses request a payout once, also when the balance has changed between them', async () => {
  const countRequests = () => asOwner(world.service, 'SELECT id FROM transfer_requests');
  const address = world.at('/transfers/new');
  const { id } = await requestSubAccountPayout();
  const ofSubAccount = world.at(`/sub-accounts/${id}/payout?amount=100`);
  const before = (await countRequests()).length;
  await setLimit(0n);
  for (const [at, drawn] of [
    [address, () => sendForm(finance, address, typed)],
    [ofSubAccount, async () => ({ text: await (await finance.get(ofSubAccount)).text() })],
  ] as const) {
    const sent = hiddenFields((await drawn()).text);
    const first = await press(finance, at, sent);
    assert.equal(first.status, 303, first.text);
    const data = { amount: 50, network: 'aps', account_number: '7000001', sub_account: id };
    assert.equal((await world.api.post('/v1/payments', { data })).status, 201);
    await world.service.app.drain();
    const second = await press(finance, at, sent);
    assert.deepEqual([second.status, second.location], [303, first.location], second.text);
    await setLimit(null);
    assert.equal((await press(finance, at, sent)).location, first.location, 'also when nobody else is asked any more');
    await setLimit(0n);
  }
  assert.equal((await countRequests()).length, before + 2);
  await setLimit(50_000n);
});

test('a limit of 0 asks for a second person for every payout', async () => {
  const address = world.at('/settings/limits/payouts');
  const set = async (above: string) => {
    const member = await world.signIn('owner');
    return sendForm(member, address, { above, second_factor: member.code() });
  };
  const saved = await set('0');
  assert.equal(saved.status, 303, saved.text);
  const shown = await sendForm(finance, world.at('/transfers/new'), { ...typed, amount: '10' });
  assert.match(shown.text, /<h1>Ask to pay out D10\.00\?<\/h1>/);
  assert.equal((await set('500')).status, 303);
});

test('a payout that could never be made is refused to whoever requests it, not to whoever approves it', async () => {
  const before = await countTransfers();
  const requests = () => asOwner(world.service, 'SELECT id FROM transfer_requests');
  const count = (await requests()).length;
  for (const [field, text] of [
    ['narration', 'x'.repeat(101)],
    ['callback_url', 'shop.example'],
  ] as const) {
    const address = world.at('/transfers/new');
    const fields = hiddenFields((await sendForm(finance, address, { ...typed, [field]: text })).text);
    const refused = await press(finance, address, fields);
    assert.equal(refused.status, 400, field);
    assert.match(refused.text, new RegExp(`id="${field}-error"`));
  }
  assert.deepEqual([(await requests()).length, await countTransfers()], [count, before]);
  await requestPayout(finance);
  assert.equal(await countTransfers(), before, 'what was tried is not there');
});

test('up to the limit one person pays out alone', async () => {
  const before = await countTransfers();
  const address = world.at('/transfers/new');
  const shown = await sendForm(finance, address, { ...typed, amount: '500' });
  assert.match(shown.text, /<h1>Pay out D500\.00\?<\/h1>/);
  const sent = await press(finance, address, hiddenFields(shown.text));
  assert.equal(sent.status, 303, sent.text);
  assert.equal(await countTransfers(), before + 1);
});

test('a business in which nobody else may pay out cannot ask for a second person', async () => {
  const lonely = await world.service.onboard('Lonely');
  const alone = await world.signIn('owner', { business: lonely });
  const address = `${world.service.url}/dashboard/test/${lonely.test.merchant.shortId}/settings/limits/payouts`;
  const refused = await sendForm(alone, address, { above: '500', second_factor: alone.code() });
  assert.equal(refused.status, 400, refused.text);
  assert.match(refused.text, /Nobody but you/);
});

test('a form that has paid out, pressed again after the limit was set, pays out no second time', async () => {
  await setLimit(null);
  const address = world.at('/transfers/new');
  const fields = hiddenFields((await sendForm(finance, address, typed)).text);
  const sent = await press(finance, address, fields);
  assert.equal(sent.status, 303, sent.text);
  const before = await countTransfers();
  await setLimit(50_000n);
  const requested = await press(finance, address, fields);
  const approved = await (await approval(new URL(requested.location ?? '', world.service.url).href))();
  assert.equal(approved.location, sent.location);
  assert.equal(await countTransfers(), before);
});
