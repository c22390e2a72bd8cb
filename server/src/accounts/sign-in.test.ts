import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AppError } from '../api/app-error.ts';
import type { Database } from '../kit/db.ts';
import { client, openAccountWorld, password, type AccountWorld } from './account-world.corpus.ts';
import { VisitorLimit, signIn } from './sign-in.ts';
import { confirmSession, deleteSession, deleteSessions, findSignedIn, listOwnSessions } from './sessions.ts';
import { checkEmail, requestPasswordReset, resetPassword, signUp, verifyEmail } from './sign-up.ts';

let world: AccountWorld;

before(async () => {
  world = await openAccountWorld('sign-in');
});

after(() => world.close());

const minuteMs = 60_000;
const refusal =
  (message: RegExp, code = 'invalid_request') =>
  (error: unknown) =>
    error instanceof AppError && error.code === code && message.test(error.message);
const noMatch = refusal(/do not match/);
const signedIn = (token: string) => findSignedIn(world.context, token, '192.0.2.8');

test('a wrong password, an unknown address and the other realm are refused in the same words', async () => {
  await world.addOwner('same-words@example.gm');
  await assert.rejects(world.signIn('same-words@example.gm', 'not this one'), noMatch);
  await assert.rejects(world.signIn('nobody@example.gm'), noMatch);
  const credentials = { email: 'same-words@example.gm', password, client, knownDevice: null };
  await assert.rejects(signIn(world.context, 'operator', credentials), noMatch);
  assert.equal((await world.signIn(' Same-Words@Example.gm ')).session.isComplete, true);
});

test('after ten wrong passwords an address has to wait, whether or not it has a login', async () => {
  await world.addOwner('throttled@example.gm');
  for (const email of ['throttled@example.gm', 'no-login@example.gm']) {
    const tries = await Promise.allSettled(Array.from({ length: 14 }, () => world.signIn(email, 'wrong password')));
    const messages = tries.map((result) => (result.status === 'rejected' ? String(result.reason) : 'signed in'));
    assert.equal(messages.filter((text) => text.includes('do not match')).length, 10, messages.join('\n'));
    assert.equal(messages.filter((text) => text.includes('Too many')).length, 4);
  }
  await assert.rejects(world.signIn('throttled@example.gm'), refusal(/Wait a minute/, 'rate_limited'));
  assert.ok(
    await world.signIn('throttled@example.gm', password, 'a known device'),
    'who was here before is not kept out',
  );
  await world.clock.advance(31_000);
  assert.ok(await world.signIn('throttled@example.gm'), 'the wait ends');
});

test('waits double with each further wrong password, up to a quarter of an hour', async () => {
  const waits: number[] = [];
  for (let tries = 0; tries < 18; tries += 1) {
    await assert.rejects(world.signIn('doubling@example.gm', 'x'), noMatch);
    if (tries < 9) continue;
    const error: unknown = await world.signIn('doubling@example.gm', 'x').catch((reason: unknown) => reason);
    assert.ok(error instanceof AppError && error.retryAfterSeconds !== undefined);
    waits.push(error.retryAfterSeconds);
    await world.clock.advance(error.retryAfterSeconds * 1_000);
  }
  assert.deepEqual(waits.slice(0, 5), [30, 60, 120, 240, 480]);
  assert.deepEqual(waits.slice(5), [900, 900, 900, 900]);
  await world.clock.advance(15 * minuteMs);
  for (let tries = 0; tries < 10; tries += 1) await assert.rejects(world.signIn('doubling@example.gm', 'x'), noMatch);
});

test('one address and one process can only try so often', async () => {
  const limit = new VisitorLimit(world.context);
  for (let tries = 0; tries < 60; tries += 1) limit.take('198.51.100.1');
  assert.throws(() => limit.take('198.51.100.1'), refusal(/Too many tries/, 'rate_limited'));
  limit.take('198.51.100.2');
  assert.throws(
    () => {
      for (let tries = 0; tries < 250; tries += 1) limit.take(`198.51.101.${tries}`);
    },
    refusal(/Too many tries/, 'rate_limited'),
  );
});

test('an address that goes on trying beyond its limit uses up no tries of the others', () => {
  const limit = new VisitorLimit(world.context);
  let refused = 0;
  for (let tries = 0; tries < 1_000; tries += 1) {
    try {
      limit.take('198.51.100.1');
    } catch {
      refused += 1;
    }
  }
  assert.equal(refused, 940);
  for (let others = 0; others < 140; others += 1) limit.take(`203.0.113.${others}`);
});

test('a session ends after 30 idle minutes, after 12 hours, and when it is ended', async () => {
  await world.addOwner('sessions@example.gm');
  const idle = await world.signIn('sessions@example.gm');
  await world.clock.advance(29 * minuteMs);
  assert.equal((await signedIn(idle.token))?.account.email, 'sessions@example.gm');
  await world.clock.advance(29 * minuteMs);
  assert.ok(await signedIn(idle.token), 'using it keeps it');
  await world.clock.advance(31 * minuteMs);
  assert.equal(await signedIn(idle.token), undefined);

  const long = await world.signIn('sessions@example.gm');
  for (let minutes = 0; minutes < 12 * 60; minutes += 20) {
    assert.ok(await signedIn(long.token));
    await world.clock.advance(20 * minuteMs);
  }
  assert.equal(await signedIn(long.token), undefined, 'however busy');

  const [one, other] = [await world.signIn('sessions@example.gm'), await world.signIn('sessions@example.gm')];
  const listed = await listOwnSessions(world.context, one.account.id);
  assert.deepEqual(
    listed.map(({ device, address }) => ({ device, address })),
    [client, client].map(({ device, address }) => ({ device, address })),
  );
  await deleteSession(world.context.db, one.account.id, other.session.id);
  assert.equal(await signedIn(other.token), undefined);
  await world.context.db.run(deleteSessions(one.account.id, one.session.id));
  assert.ok(await signedIn(one.token));
});

test('a token of before the second factor is worth nothing afterwards, and no token is stored', async () => {
  await world.addOwner('rotated@example.gm');
  const started = await world.signIn('rotated@example.gm');
  const { context } = world;
  const token = await context.db.withTransaction((tx) => confirmSession(tx, context, started.session));
  assert.ok(token !== null && (await signedIn(token)));
  assert.equal(await signedIn(started.token), undefined);
  const stored = await context.db.rows<{ text: string }>({
    name: 'test_sessions',
    text: 'SELECT account_sessions::text AS text FROM account_sessions',
    values: [],
  });
  assert.ok(stored.length > 0 && stored.every(({ text }) => !text.includes(token)));
});

test('reset link used twice or late: it works once, for an hour, and a newer one replaces it', async () => {
  const { context, clock, mails } = world;
  await world.addOwner('links@example.gm');
  const used = /verify\/(\w+)/.exec(mails.findLast(({ to }) => to === 'links@example.gm')?.text ?? '')?.[1] ?? '';
  assert.equal(await verifyEmail(context, used), undefined, 'used');
  await requestPasswordReset(context, 'merchant', 'links@example.gm');
  const replaced = world.newestToken();
  await requestPasswordReset(context, 'merchant', 'links@example.gm');
  const late = world.newestToken();
  assert.equal(await resetPassword(context, { token: replaced, password, client }), undefined, 'replaced');
  await clock.advance(61 * minuteMs);
  assert.equal(await resetPassword(context, { token: late, password, client }), undefined, 'late');
});

test('a new password ends every session, and of two uses of its link at once one counts', async () => {
  const { context } = world;
  await world.addOwner('reset@example.gm');
  const before = await world.signIn('reset@example.gm');
  await requestPasswordReset(context, 'merchant', 'reset@example.gm');
  const token = world.newestToken();
  const weak = resetPassword(context, { token, password: 'password123', client });
  await assert.rejects(weak, (error) => error instanceof AppError && error.fields?.[0]?.path === 'password');
  const both = await Promise.all(
    ['harmattan kora baobab lantern', 'harmattan kora baobab anchor'].map((next) =>
      resetPassword(context, { token, password: next, client }),
    ),
  );
  assert.equal(both.filter(Boolean).length, 1);
  assert.equal(await signedIn(before.token), undefined);
  await assert.rejects(world.signIn('reset@example.gm', password), noMatch);
});

test('a sign-in that checked the old password before the new one was saved begins no session', async () => {
  const { context } = world;
  const email = 'overtaken@example.gm';
  const { accountId } = await world.addOwner(email);
  await requestPasswordReset(context, 'merchant', email);
  const link = { token: world.newestToken(), password: 'harmattan kora baobab lantern', client };
  const db = whileChecked(context.db, () => resetPassword(context, link));
  const credentials = { email, password, client, knownDevice: null };
  await assert.rejects(signIn({ ...context, db }, 'merchant', credentials), noMatch);
  assert.deepEqual(await listOwnSessions(context, accountId), []);
  assert.ok(await world.signIn(email, link.password));
});

/** A database in which something happens between the check of a password and the session that it begins. */
function whileChecked(db: Database, meanwhile: () => Promise<unknown>): Database {
  return {
    rows: (statement) => db.rows(statement),
    row: (statement) => db.row(statement),
    // The count of wrong passwords, which a right one ends.
    run: async (statement) => {
      await meanwhile();
      return db.run(statement);
    },
    withTransaction: (body, cause) => db.withTransaction(body, cause),
    dedicatedClient: () => db.dedicatedClient(),
    waiting: 0,
    close: () => db.close(),
  };
}

test('signing up or asking for a password tells nobody but the address whether it has a login', async () => {
  const { context, mails } = world;
  await world.addOwner('twice@example.gm');
  const count = mails.length;
  const again = { name: 'Awa', email: 'TWICE@example.gm', password, businessName: 'Another' };
  await signUp(context, again, () => Promise.reject(new Error('no second business')));
  assert.match(mails.at(-1)?.text ?? '', /which has a login already/);
  assert.equal(mails.length, count + 1);
  await requestPasswordReset(context, 'merchant', 'nobody@example.gm');
  assert.equal(mails.length, count + 1, 'no mail to an address without a login');
});

test('nobody can send an address more than five mails in an hour by asking for links', async () => {
  const { context, clock, mails } = world;
  await world.addOwner('flooded@example.gm');
  const mailsOf = () => mails.filter(({ to }) => to === 'flooded@example.gm').length;
  const before = mailsOf();
  const again = { name: 'Awa', email: 'flooded@example.gm', password, businessName: 'Another' };
  for (let count = 0; count < 4; count += 1) {
    await requestPasswordReset(context, 'merchant', 'Flooded@example.gm');
    await signUp(context, again, () => Promise.reject(new Error('no second business')));
  }
  assert.equal(mailsOf() - before, 5);
  await clock.advance(61 * minuteMs);
  await requestPasswordReset(context, 'merchant', 'flooded@example.gm');
  assert.equal(mailsOf() - before, 6);
});

test('before the address is confirmed nobody gets in, and the link comes once more', async () => {
  const { context, mails } = world;
  const request = { name: 'Awa', email: 'unconfirmed@example.gm', password, businessName: 'Shop' };
  await signUp(context, request, world.createBusiness);
  const first = world.newestToken();
  await assert.rejects(world.signIn('unconfirmed@example.gm'), refusal(/Confirm your e-mail/, 'state_conflict'));
  assert.equal(mails.at(-1)?.to, 'unconfirmed@example.gm');
  assert.equal(await verifyEmail(context, first), undefined, 'a newer link replaces it');
  assert.ok(await verifyEmail(context, world.newestToken()));
  assert.ok(await world.signIn('unconfirmed@example.gm'));
});

test('header injection: a name or address with line breaks is refused before a mail is written', async () => {
  const { context, mails } = world;
  const count = mails.length;
  for (const bad of [
    { name: 'Awa\r\nBcc: x@example.com' },
    { email: 'a@example.gm\nBcc: b@example.gm' },
    { email: 'a b@c' },
  ]) {
    const request = { name: 'Awa', email: 'header@example.gm', password, businessName: 'Shop', ...bad };
    await assert.rejects(
      signUp(context, request, () => Promise.reject(new Error('not reached'))),
      AppError,
    );
  }
  assert.equal(mails.length, count);
});

test('an address is judged in the form in which it is stored and mailed to', () => {
  for (const email of [
    'awa@example.gm，lamin@example.gm',
    'awa＠example＠gm.gm',
    'ﷺ@example.gm',
    `${'ﬃ'.repeat(90)}@a.gm`,
  ]) {
    assert.throws(() => checkEmail(email), refusal(/Type an e-mail address/), email);
  }
  checkEmail('ａｗａ@example.gm');
});
