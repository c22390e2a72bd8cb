import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { AppError } from '../api/app-error.ts';
import { countWaiting } from '../../../test/harness/tables.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { dayMs } from '../kit/clock.ts';
import { createSealer } from '../kit/seal.ts';
import { openAccountWorld, client, type AccountWorld } from './account-world.corpus.ts';
import { agreeFactorLost } from './lost-factor.ts';
import { consumeChallenge, newChallenge } from './passkey-challenge.ts';
import { passkeyRequest } from './passkeys.ts';
import { findAccount } from './queries.ts';
import {
  checkSecondFactor,
  countRecoveryCodes,
  createRecoveryCodes,
  disableTotp,
  enableTotp,
  hasSecondFactor,
  prepareTotp,
  preparedTotp,
} from './second-factor.ts';
import { giveSecondFactor } from './sign-in.ts';
import { findSignedIn, hasRecentFactor } from './sessions.ts';
import { requestPasswordReset, resetPassword } from './sign-up.ts';
import { listMemberships } from './team.ts';

let world: AccountWorld;

before(async () => {
  world = await openAccountWorld('second factor');
});

after(() => world.close());

const stepMs = 30_000;

/** A login with an authenticator app, and the app. */
async function withApp(email: string) {
  const { context, clock } = world;
  const { accountId } = await world.addOwner(email);
  const account = async () => {
    const found = await findAccount(context.db, accountId);
    assert.ok(found);
    return found;
  };
  const owner = await account();
  const setup = await context.db.withTransaction((tx) => prepareTotp(tx, context, owner));
  const app = new TOTP({ secret: Secret.fromBase32(setup.text.replaceAll(' ', '')) });
  const codeAt = (offsetMs = 0) => app.generate({ timestamp: clock.now().getTime() + offsetMs });
  assert.deepEqual(preparedTotp(context, await account()), setup, 'the same is shown again');
  await context.db.withTransaction(async (tx) => enableTotp(tx, context, { account: owner, code: codeAt() }));
  await clock.advance(2 * stepMs);
  const check = async (code: string, passkey = '') => checkSecondFactor(context, await account(), { code, passkey });
  return { account, codeAt, check };
}

const wrong = (error: unknown) => error instanceof AppError && error.fields?.[0]?.path === 'second_factor';

test('a code counts once, also when it is sent in many requests at once', async () => {
  const { codeAt, check } = await withApp('once@example.gm');
  const results = await Promise.allSettled(Array.from({ length: 4 }, () => check(codeAt())));
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
  await assert.rejects(check(codeAt(-stepMs)), wrong, 'an older step than the last accepted one');
});

test('the codes of one step before and after count, others do not', async () => {
  const { codeAt, check } = await withApp('window@example.gm');
  await assert.rejects(check(codeAt(-2 * stepMs)), wrong);
  await assert.rejects(check(codeAt(2 * stepMs)), wrong);
  await check(codeAt(-stepMs));
  await check(codeAt(stepMs));
});

test('after five wrong codes no code is accepted for a while, not even the right one', async () => {
  const { codeAt, check } = await withApp('guessing@example.gm');
  for (let tries = 0; tries < 5; tries += 1) await assert.rejects(check('000000'), wrong);
  await assert.rejects(check(codeAt()), (error) => error instanceof AppError && error.code === 'rate_limited');
  await world.clock.advance(31_000);
  await check(codeAt());
});

test('each recovery code counts once, in either spelling, and only for its own login', async () => {
  const { account, check } = await withApp('recovery@example.gm');
  const other = await withApp('recovery-other@example.gm');
  const { context } = world;
  const { id } = await account();
  const codes = await context.db.withTransaction(async (tx) => createRecoveryCodes(tx, context, id));
  assert.equal(codes.length, 10);
  assert.match(codes[0] ?? '', /^[a-z2-9]{4}-[a-z2-9]{4}-[a-z2-9]{4}$/);
  await assert.rejects(other.check(codes[0] ?? ''), wrong);
  await check((codes[0] ?? '').replaceAll('-', '').toUpperCase());
  await assert.rejects(check(codes[0] ?? ''), wrong, 'used');
  assert.equal(await countRecoveryCodes(context.db, id), 9);
  await context.db.withTransaction(async (tx) => createRecoveryCodes(tx, context, id));
  await assert.rejects(check(codes[1] ?? ''), wrong, 'replaced');
});

test('of two presses for new recovery codes at once the codes of one count', async () => {
  const { account } = await withApp('recovery-twice@example.gm');
  const { db } = world.context;
  const { id } = await account();
  const replace = () => db.withTransaction((tx) => createRecoveryCodes(tx, world.context, id));
  await replace();
  const second = await db.withTransaction(async (tx) => {
    await createRecoveryCodes(tx, world.context, id);
    assert.equal(await countRecoveryCodes(tx, id), 10);
    const codes = replace();
    await eventually('the other press waits', async () => (await countWaiting(db)) === 1);
    return { codes };
  });
  assert.equal((await second.codes).length, 10);
  assert.equal(await countRecoveryCodes(db, id), 10);
});

test('without the seal key of an app’s secret its codes are wrong, and recovery codes open the login', async () => {
  const { account, codeAt } = await withApp('lost-key@example.gm');
  const { context } = world;
  const owner = await account();
  const [recoveryCode = ''] = await context.db.withTransaction(async (tx) =>
    createRecoveryCodes(tx, context, owner.id),
  );
  const afterwards = { ...context, sealer: createSealer('22'.repeat(32)) };
  await assert.rejects(checkSecondFactor(afterwards, owner, { code: codeAt(), passkey: '' }), wrong);
  await checkSecondFactor(afterwards, owner, { code: recoveryCode, passkey: '' });
  const { accountId } = await world.addOwner('lost-before@example.gm');
  const prepared = async () => (await findAccount(context.db, accountId)) ?? assert.fail();
  const before = await prepared();
  await context.db.withTransaction((tx) => prepareTotp(tx, context, before));
  assert.notEqual(preparedTotp(context, await prepared()), null);
  assert.equal(preparedTotp(afterwards, await prepared()), null, 'an app that was only prepared is set up anew');
});

test('with a second factor a password alone opens nothing, also a newly chosen one', async () => {
  const { codeAt } = await withApp('both@example.gm');
  const { context } = world;
  await requestPasswordReset(context, 'merchant', 'both@example.gm');
  await resetPassword(context, { token: world.newestToken(), password: 'harmattan kora baobab lantern', client });
  const started = await world.signIn('both@example.gm', 'harmattan kora baobab lantern');
  assert.equal(started.session.isComplete, false);
  const incomplete = await findSignedIn(context, started.token, '');
  assert.ok(incomplete && !incomplete.session.isComplete && !hasRecentFactor(incomplete.session, world.clock.now()));
  const token = await giveSecondFactor(context, incomplete, { code: codeAt(), passkey: '', client });
  const complete = await findSignedIn(context, token, '');
  assert.ok(complete?.session.isComplete && hasRecentFactor(complete.session, world.clock.now()));
  assert.equal(await findSignedIn(context, started.token, ''), undefined, 'the cookie of before');
  await world.clock.advance(5 * 60_000 - 1);
  assert.ok(hasRecentFactor(complete.session, world.clock.now()), 'just before five minutes');
  await world.clock.advance(1);
  assert.equal(hasRecentFactor(complete.session, world.clock.now()), false, 'five minutes later');
});

test('a prepared app counts from its first code on, and removing it asks for none any more', async () => {
  const { account } = await withApp('removed@example.gm');
  const { context } = world;
  await assert.rejects(
    context.db.withTransaction(async (tx) => prepareTotp(tx, context, await account())),
    /set up already/,
  );
  const owner = await account();
  await context.db.withTransaction(async (tx) => disableTotp(tx, owner));
  assert.equal((await world.signIn('removed@example.gm')).session.isComplete, true);
  await context.db.withTransaction(async (tx) => prepareTotp(tx, context, owner));
  assert.equal((await world.signIn('removed@example.gm')).session.isComplete, true, 'not confirmed yet');
  const wrongCode = context.db.withTransaction(async (tx) =>
    enableTotp(tx, context, { account: owner, code: '000000' }),
  );
  await assert.rejects(wrongCode, /not right/);
});

test('who opens the sign-in stores nothing, and a passkey’s challenge counts once, for five minutes', async () => {
  const { context, clock } = world;
  const { accountId } = await world.addOwner('challenged@example.gm');
  const other = await world.addOwner('other-challenged@example.gm');
  const countStored = async () =>
    (
      await context.db.rows({
        name: 'test_challenges',
        text: `SELECT FROM account_tokens WHERE purpose = 'passkey'`,
        values: [],
      })
    ).length;
  const question = (await passkeyRequest(context, null)) as { challenge: string };
  assert.equal(await countStored(), 0);
  const consume = (challenge: string, owner = accountId) =>
    consumeChallenge(context.db, context, { challenge, accountId: owner });
  const results = await Promise.all([1, 2, 3].map(() => consume(question.challenge)));
  assert.deepEqual(results.toSorted(), [false, false, true]);
  assert.equal(await consume(question.challenge, other.accountId), false, 'for nobody else either');
  const own = () => Buffer.from(newChallenge(context, accountId)).toString('base64url');
  assert.equal(await consume(own(), other.accountId), false, 'of another login');
  const ended = own();
  await clock.advance(5 * 60_000);
  assert.equal(await consume(ended), false);
  const forged = Buffer.from(own(), 'base64url');
  forged[21] = (forged[21] ?? 0) ^ 1;
  for (const challenge of ['', 'x', forged.toString('base64url')]) assert.equal(await consume(challenge), false);
  assert.equal(await countStored(), 1);
  assert.equal(await consume(own()), true);
});

test('two operators remove a lost second factor a day apart; a sign-in with it ends that', async () => {
  const email = 'lost@example.gm';
  const { account, codeAt } = await withApp(email);
  const { context, clock, mails } = world;
  const [membership] = await listMemberships(context.db, (await account()).id);
  assert.ok(membership);
  const { businessId } = membership;
  const agree = (operatorId: string, operatorIds = ['fatou', 'lamin']) =>
    context.db.withTransaction((tx) => agreeFactorLost(tx, context, { businessId, email, operatorId, operatorIds }));
  assert.equal((await agree('fatou')).removed, false);
  assert.deepEqual([mails.at(-1)?.to, mails.at(-1)?.subject], [email, 'Your second factor is about to be removed']);
  await assert.rejects(agree('fatou'), /Another operator has to/);
  await assert.rejects(agree('lamin'), /can object/);
  await clock.advance(dayMs);
  await giveSecondFactor(context, await world.signIn(email), { code: codeAt(), passkey: '', client });
  assert.equal((await agree('lamin')).removed, false, 'it was not lost');
  await clock.advance(dayMs);
  assert.equal((await agree('fatou', ['fatou'])).removed, false, 'the other one has been revoked meanwhile');
  await clock.advance(dayMs);
  assert.equal((await agree('lamin')).removed, true);
  assert.equal(await hasSecondFactor(context.db, await account()), false);
  assert.ok((await world.signIn(email)).session.isComplete);
});
