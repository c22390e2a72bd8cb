import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createCharge } from '../../../test/harness/api-client.ts';
import { openConsoleWorld, type ConsoleWorld, type SignedInOperator } from '../../../test/harness/console-world.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { asOwner, countWaiting, whileLocked } from '../../../test/harness/tables.ts';
import { listInvitations } from '../accounts/team.ts';
import { hiddenFields } from '../dashboard/patterns/form.corpus.ts';
import { findOperatorLogin, listOperators } from '../operators/manage-operators.ts';
import { createLogin } from './logins/create-login.ts';
import { endOperator } from './logins/end-operator.ts';

let world: ConsoleWorld;
let support: SignedInOperator;
let finance: SignedInOperator;

before(async () => {
  world = await openConsoleWorld();
  support = await world.signInOperator('support');
  finance = await world.signInOperator('finance');
});
after(() => world.stop());

/** The fields of a form, to be sent more than once, as where a response is lost. */
async function opened(
  operator: SignedInOperator,
  path: string,
  typed: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  return { ...hiddenFields(await (await operator.get(path)).text()), ...typed };
}

async function countEntries(action: string): Promise<number> {
  return (await asOwner(world.dashboard.service, 'SELECT id FROM audit_entries WHERE action = $1', [action])).length;
}

test('a business is created once, however often its form is sent, and another name is not taken for it', async () => {
  const path = '/operator/businesses/new';
  const fields = await opened(support, path, { name: 'Bakau Bikes' });
  const taps = await Promise.all([support.post(path, fields), support.post(path, fields)]);
  taps.push(await support.post(path, fields));
  assert.deepEqual(
    taps.map(({ status, headers }) => [status, headers.get('location')]),
    taps.map(() => [303, taps[0]?.headers.get('location')]),
  );
  const created = await asOwner(world.dashboard.service, 'SELECT id FROM businesses WHERE name = $1', ['Bakau Bikes']);
  assert.deepEqual([created.length, await countEntries('businesses.create')], [1, 1]);
  const other = await support.post(path, { ...fields, name: 'Brikama Bikes' });
  assert.equal(other.status, 409);
  assert.match(await other.text(), /What it says now was not done[^]*value="Brikama Bikes"/);
});

test('terms are agreed once, and a second press of the button leads where the first one led', async () => {
  const path = `/operator/businesses/${world.businessId}/limits?environment=test`;
  const fields = await opened(finance, path, { largest: '5,000', daily: 'none' });
  const first = await finance.post(path, { ...fields, second_factor: finance.code() });
  assert.equal(first.status, 303, await first.text());
  const second = await finance.post(path, fields);
  assert.deepEqual([second.status, second.headers.get('location')], [303, first.headers.get('location')]);
  assert.equal(await countEntries('limits.set'), 1);
  const other = await finance.post(path, { ...fields, largest: '7000' });
  assert.equal(other.status, 409);
  assert.match(await other.text(), /This press did nothing[^]*Largest transfer in dalasi: 5000\.00/);
});

test('of two who agree terms at the same moment one does, and the other is shown what holds now', async () => {
  const { service } = world.dashboard;
  const path = `/operator/businesses/${world.businessId}/limits?environment=live`;
  const people = [await world.signInOperator('admin'), await world.signInOperator('finance')];
  assert.equal(
    (await people[0]?.submit(path, { largest: '100', daily: 'none', second_factor: people[0].code() }))?.status,
    303,
  );
  const forms = await Promise.all(
    people.map((each, index) =>
      opened(each, path, { largest: `${index + 2}00`, daily: 'none', second_factor: each.code() }),
    ),
  );
  const presses: Promise<Response>[] = [];
  await whileLocked(service, { text: 'SELECT FROM transfer_limits FOR UPDATE' }, async () => {
    presses.push(...people.map((each, index) => each.post(path, forms[index] ?? {})));
    await eventually('both have seen 100', async () => (await countWaiting(service.db)) === 2);
  });
  const [first, second] = (await Promise.all(presses)).toSorted((left, right) => left.status - right.status);
  assert.deepEqual([first?.status, second?.status], [303, 409]);
  assert.match((await second?.text()) ?? '', /This press did nothing[^]*Largest transfer in dalasi: [23]00\.00/);
});

test('of two who change a contact at the same moment one does, and the other is shown what holds', async () => {
  const { service } = world.dashboard;
  const path = `/operator/businesses/${world.businessId}/appearance?environment=live`;
  assert.equal((await support.submit(path, { contact_text: 'Ask at the counter.' })).status, 303);
  const people = [support, await world.signInOperator('support')];
  const forms = await Promise.all(
    people.map((each, index) => opened(each, path, { contact_text: index === 0 ? 'One.' : 'Two.' })),
  );
  const presses: Promise<Response>[] = [];
  await whileLocked(service, { text: 'SELECT FROM merchants FOR UPDATE' }, async () => {
    presses.push(...people.map((each, index) => each.post(path, forms[index] ?? {})));
    await eventually('both have seen it', async () => (await countWaiting(service.db)) === 2);
  });
  const [first, second] = (await Promise.all(presses)).toSorted((left, right) => left.status - right.status);
  assert.deepEqual([first?.status, second?.status], [303, 409]);
  assert.match((await second?.text()) ?? '', /This press did nothing[^]*value="(One|Two)\."/);
  assert.equal(await countEntries('appearance.set'), 2);
});

test('the limit of one page is recorded with what it replaces, and the same limit again is no change', async () => {
  const path = `/operator/businesses/${world.businessId}/page-rate-limits?environment=test`;
  const link = await world.dashboard.api.post('/v1/payment-links', { data: { title: 'Ticket sale' } });
  const setTo = async (pages: string): Promise<void> => {
    const fields = { kind: 'link', page: String(link.body['id']), pages };
    assert.equal((await finance.submit(path, { ...fields, second_factor: finance.code() })).status, 303);
  };
  for (const pages of ['200', '300', '300']) await setTo(pages);
  const entries = await asOwner<{ changes: unknown }>(
    world.dashboard.service,
    `SELECT changes FROM audit_entries WHERE action = 'page-rate-limits.set' ORDER BY id`,
  );
  assert.deepEqual(
    entries.map(({ changes }) => changes),
    [[{ field: 'pages', before: '', after: '200' }], [{ field: 'pages', before: '200', after: '300' }]],
  );
});

/** A case about a part of a paid payment that the network has reversed, for which somebody must say how much. */
async function openPartialReversal(transactionId: string): Promise<string> {
  const { api, service } = world.dashboard;
  const payment = await createCharge(api);
  await service.app.drain();
  const id = randomUUID();
  const { body } = await api.get(`/v1/transactions/${payment}`);
  await asOwner(
    service,
    `INSERT INTO cases (merchant_id, id, kind, status, subject_type, subject_id, reference, amount, currency, summary,
       created_at, network_transaction_id)
     VALUES ($1, $2, 'partial_reversal', 'open', 'charge', $3, $4, 4000, 'GMD', 'A part was reversed.', now(), $4)`,
    [world.dashboard.business.test.merchant.id, id, body['id'], transactionId],
  );
  return id;
}

test('who confirms a case sees the money that the proposal books, and two presses make one proposal', async () => {
  const caseId = await openPartialReversal('W-4711');
  const path = `/operator/test/cases/${caseId}`;
  const evidence = 'Wave confirms it, ticket 4711 of 20 November.';
  const typed = { resolution: 'reversed', evidence, transaction: 'W-4711', amount: '40' };
  const fields = await opened(finance, `${path}/propose`, typed);
  const taps = [await finance.post(`${path}/propose`, fields), await finance.post(`${path}/propose`, fields)];
  assert.deepEqual(
    taps.map(({ status, headers }) => [status, headers.get('location')]),
    taps.map(() => [303, path]),
  );
  assert.equal(await countEntries('cases.proposed'), 1);
  const admin = await world.signInOperator('admin');
  const confirming = await opened(admin, `${path}/confirm`, {});
  for (const page of [path, `${path}/confirm`]) {
    assert.match(await (await admin.get(page)).text(), /W-4711<[^]{0,40}D40\.00/, page);
  }
  // The same words with another amount are another proposal.
  const more = await opened(finance, `${path}/propose`, { ...typed, amount: '90' });
  assert.equal((await finance.post(`${path}/propose`, more)).status, 303);
  const stale = await admin.post(`${path}/confirm`, { ...confirming, second_factor: admin.code() });
  assert.equal(stale.status, 409);
  assert.match(await stale.text(), /This press did nothing[^]*D90\.00/);
});

test('of the invitations that operators send for a business the last one counts', async () => {
  const { accounts, service } = world.dashboard;
  const business = await service.onboard('Bakau Boats');
  const { businessId } = business.test.merchant;
  const path = `/operator/businesses/${businessId}/owner`;
  const openInvitations = async () => (await listInvitations(accounts.db, businessId)).map(({ email }) => email);
  for (const email of ['mistyped@boats.gm', 'awa@boats.gm']) {
    assert.equal((await support.submit(path, { email })).status, 303);
    assert.deepEqual(await openInvitations(), [email]);
  }
  const fields = await opened(support, path, { email: 'lamin@operator.gm' });
  await world.dashboard.signIn('owner', { business });
  assert.equal((await support.post(path, fields)).status, 409);
  assert.deepEqual(await openInvitations(), ['awa@boats.gm']);
});

test('of two operators who invite owners of a business at once, the later one’s invitation counts alone', async () => {
  const { accounts, service } = world.dashboard;
  const { businessId } = (await service.onboard('Tanji Fish')).test.merchant;
  const path = `/operator/businesses/${businessId}/owner`;
  const other = await world.signInOperator('support');
  const forms = [
    await opened(support, path, { email: 'awa@fish.gm' }),
    await opened(other, path, { email: 'lamin@fish.gm' }),
  ];
  const lock = { text: 'SELECT FROM businesses WHERE id = $1 FOR UPDATE', values: [businessId] };
  const pressed = await whileLocked(service, lock, async () => {
    const both = [support.post(path, forms[0] ?? {}), other.post(path, forms[1] ?? {})];
    await eventually('both wait', async () => (await countWaiting(service.db)) === 2);
    return both;
  });
  for (const { status } of await Promise.all(pressed)) assert.equal(status, 303);
  assert.equal((await listInvitations(accounts.db, businessId)).length, 1);
});

test('invitations to owners end with the operator’s right to send them; a revocation is in the log once', async () => {
  const { accounts, service } = world.dashboard;
  const entries = (id: string) =>
    asOwner(service, `SELECT FROM audit_entries WHERE action = 'operators.revoke' AND object_id = $1`, [id]);
  for (const [change, typed] of [
    ['revoke', {}],
    ['role', { role: 'finance' }],
  ] as const) {
    const { businessId } = (await service.onboard(`Brikama ${change}`)).test.merchant;
    const leaving = await world.signInOperator('support');
    const invite = { email: 'awa@brikama.gm' };
    assert.equal((await leaving.submit(`/operator/businesses/${businessId}/owner`, invite)).status, 303);
    assert.equal((await listInvitations(accounts.db, businessId)).length, 1);
    const path = `/operator/operators/${leaving.operatorId}/${change}`;
    const shown = await (await (await world.signInOperator('admin')).get(path)).text();
    assert.equal(/credentials for commands that they have made[^]*go on working/.test(shown), change === 'revoke');
    for (const admin of [await world.signInOperator('admin'), await world.signInOperator('admin')]) {
      assert.equal((await admin.submit(path, { ...typed, second_factor: admin.code() })).status, 303);
    }
    assert.deepEqual(await listInvitations(accounts.db, businessId), []);
    assert.equal((await entries(leaving.operatorId)).length, change === 'revoke' ? 1 : 0);
  }
});

test('an invitation of an operator who is revoked at that moment ends too', async () => {
  const { accounts, service } = world.dashboard;
  const { businessId } = (await service.onboard('Gunjur Nets')).test.merchant;
  const leaving = await world.signInOperator('support');
  const path = `/operator/businesses/${businessId}/owner`;
  const form = await opened(leaving, path, { email: 'awa@gunjur.gm' });
  const lock = { text: 'SELECT FROM businesses WHERE id = $1 FOR UPDATE', values: [businessId] };
  const waiting = (count: number) => async () => (await countWaiting(service.db)) === count;
  const both = await whileLocked(service, lock, async () => {
    const invited = leaving.post(path, form);
    await eventually('the invitation waits', waiting(1));
    const operator = { id: leaving.operatorId, revokedAt: service.clock.now() };
    const revoked = service.db.withTransaction((tx) => endOperator(tx, operator));
    await eventually('the revocation waits for it', waiting(2));
    return [invited, revoked];
  });
  await Promise.all(both);
  assert.deepEqual(await listInvitations(accounts.db, businessId), []);
});

test('an admin who is revoked while agreeing that a second factor is lost agrees to nothing', async () => {
  const { service, signIn } = world.dashboard;
  const leaving = await world.signInOperator('admin');
  const path = `/operator/businesses/${world.businessId}/lost-factor`;
  const { account } = await signIn('owner');
  const form = await opened(leaving, path, { email: account.email, evidence: 'Called the number on the contract.' });
  const operator = { id: leaving.operatorId, revokedAt: service.clock.now() };
  const lock = { text: 'SELECT FROM operators WHERE id = $1 FOR UPDATE', values: [operator.id] };
  const waiting = (count: number) => async () => (await countWaiting(service.db)) === count;
  const [pressed, revoked] = await whileLocked(service, lock, async () => {
    const first = service.db.withTransaction((tx) => endOperator(tx, operator));
    await eventually('the revocation waits', waiting(1));
    const second = leaving.post(path, { ...form, second_factor: leaving.code() });
    await eventually('whoever agrees waits for it', waiting(2));
    return [second, first] as const;
  });
  await revoked;
  assert.equal((await pressed).status, 409);
  assert.equal(await countEntries('logins.lost_factor'), 0);
});

test('two admins who invite the same address at once invite one operator, whose newest link works', async () => {
  const { accounts, service } = world.dashboard;
  const login = { email: 'isatou@operator.gm', name: 'Isatou', role: 'support' };
  const [inserted, other] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first = accounts.db.withTransaction(async (tx) => {
    const created = await createLogin(tx, accounts, login);
    assert.ok(await findOperatorLogin(tx, created.login.accountId));
    inserted.resolve();
    await other.promise;
  });
  await inserted.promise;
  const second = world.createLogin(login);
  await eventually('the other one waits', async () => (await countWaiting(service.db)) === 1);
  other.resolve();
  await first;
  const { link } = await second;
  assert.equal((await fetch(String(link))).status, 200);
  const operators = await listOperators(service.db);
  assert.equal(operators.filter(({ name }) => name === 'Isatou').length, 1);
});
