import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '../../../test/harness/eventually.ts';
import { countWaiting } from '../../../test/harness/tables.ts';
import { AppError } from '../api/app-error.ts';
import { openAccountWorld, type AccountWorld } from './account-world.corpus.ts';
import { findAccount } from './queries.ts';
import { insertMembership, lockTeam } from './queries/team.ts';
import {
  acceptInvitation,
  acceptInvitationAnew,
  changeRole,
  deleteInvitation,
  findInvitationOf,
  findMembership,
  inviteMember,
  listInvitations,
  listMemberships,
  listTeam,
  removeMember,
  type Grant,
} from './team.ts';

let world: AccountWorld;

before(async () => {
  world = await openAccountWorld('team');
});

after(() => world.close());

const secret = 'harmattan kora baobab lantern';
const finance: Grant = { role: 'finance', terminalIds: [] };

async function invite(owner: { accountId: string; businessId: string }, email: string, grant = finance) {
  const { context } = world;
  const invitedBy = await findAccount(context.db, owner.accountId);
  assert.ok(invitedBy);
  const business = { id: owner.businessId, name: 'Kairaba Books' };
  const invitation = await context.db.withTransaction((tx) =>
    inviteMember(tx, context, { business, invitedBy, email, grant }),
  );
  return { invitation, token: world.newestToken() };
}

const ended = (error: unknown) => error instanceof AppError && error.code === 'not_found';

test('invitation used twice: a person joins once, with the role that the owner gave', async () => {
  const { context } = world;
  const owner = await world.addOwner('owner-once@example.gm');
  const { token } = await invite(owner, 'Binta@example.gm');
  assert.match(world.mails.at(-1)?.text ?? '', /as finance/);
  const join = () => acceptInvitationAnew(context, { token, name: 'Binta', password: secret });
  const results = await Promise.allSettled([join(), join()]);
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
  await assert.rejects(join(), ended);
  const team = await listTeam(context.db, owner.businessId);
  assert.deepEqual(
    team.map(({ email, role, hasSecondFactor }) => ({ email, role, hasSecondFactor })),
    [
      { email: 'owner-once@example.gm', role: 'owner', hasSecondFactor: false },
      { email: 'binta@example.gm', role: 'finance', hasSecondFactor: false },
    ],
  );
  await assert.rejects(invite(owner, 'binta@example.gm'), /in the team already/);
});

test('header injection: who accepts has a name on one line', async () => {
  const { context } = world;
  const { token } = await invite(await world.addOwner('owner-of-lines@example.gm'), 'lines@example.gm');
  for (const name of ['Awa\r\nBcc: x@example.com', ' ']) {
    await assert.rejects(acceptInvitationAnew(context, { token, name, password: secret }), AppError);
  }
  assert.ok(await acceptInvitationAnew(context, { token, name: 'Awa', password: secret }));
});

test('invitation used late: it ends after seven days, when withdrawn, and when sent again', async () => {
  const { context, clock } = world;
  const owner = await world.addOwner('owner-ended@example.gm');
  const first = await invite(owner, 'late@example.gm');
  const second = await invite(owner, 'late@example.gm', { role: 'developer', terminalIds: [] });
  assert.equal(await findInvitationOf(context, first.token), undefined, 'replaced');
  assert.equal((await findInvitationOf(context, second.token))?.role, 'developer');
  assert.equal((await listInvitations(context.db, owner.businessId)).length, 1);
  await clock.advance(7 * 24 * 3_600_000);
  const late = acceptInvitationAnew(context, { token: second.token, name: 'Late', password: secret });
  await assert.rejects(late, ended);
  const third = await invite(owner, 'late@example.gm');
  await deleteInvitation(context.db, owner.businessId, third.invitation.id);
  const withdrawn = acceptInvitationAnew(context, { token: third.token, name: 'Late', password: secret });
  await assert.rejects(withdrawn, ended);
});

test('an invitation opens to the login of its address only, and a person can work for two businesses', async () => {
  const { context } = world;
  const owner = await world.addOwner('owner-two@example.gm');
  const other = await world.addOwner('owner-other@example.gm');
  const account = await findAccount(context.db, other.accountId);
  assert.ok(account);
  const { token } = await invite(owner, 'somebody@example.gm');
  await assert.rejects(acceptInvitation(context, account, token), /is for somebody@example.gm/);
  assert.ok(await findInvitationOf(context, token), 'a refusal uses nothing up');
  const own = await invite(owner, 'owner-other@example.gm');
  await acceptInvitation(context, account, own.token);
  assert.deepEqual((await listMemberships(context.db, account.id)).map(({ role }) => role).toSorted(), [
    'finance',
    'owner',
  ]);
});

test('a business keeps an owner, also when two owners remove each other at once', async () => {
  const { context } = world;
  const owner = await world.addOwner('owner-last@example.gm');
  const { businessId } = owner;
  const remove = (accountId: string) => context.db.withTransaction((tx) => removeMember(tx, { businessId, accountId }));
  const change = (accountId: string, grant: Grant) =>
    context.db.withTransaction((tx) => changeRole(tx, context, { businessId, accountId, grant }));
  await assert.rejects(remove(owner.accountId), /needs an owner/);
  await assert.rejects(change(owner.accountId, finance), /needs an owner/);
  const { token } = await invite(owner, 'second-owner@example.gm', { role: 'owner', terminalIds: [] });
  const second = await acceptInvitationAnew(context, { token, name: 'Second', password: secret });
  const results = await Promise.allSettled([remove(owner.accountId), change(second.account.id, finance)]);
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
  const left = await listTeam(context.db, businessId);
  assert.equal(left.filter(({ role }) => role === 'owner').length, 1);
  await assert.rejects(remove('00000000-0000-7000-8000-000000000000'), ended);
});

test('an owner who is removed or gets another role leaves no open invitation behind', async () => {
  const { context } = world;
  const owner = await world.addOwner('owner-of-all@example.gm');
  const { businessId } = owner;
  const staying = await invite(owner, 'invited-by-who-stays@example.gm');
  for (const end of ['removed', 'another role']) {
    const { token } = await invite(owner, `${end.replace(' ', '-')}@example.gm`, { role: 'owner', terminalIds: [] });
    const { account } = await acceptInvitationAnew(context, { token, name: 'Leaving', password: secret });
    const leaving = { accountId: account.id, businessId };
    const back = await invite(leaving, `own-${account.email}`, { role: 'owner', terminalIds: [] });
    await context.db.withTransaction(async (tx) => {
      if (end === 'removed') await removeMember(tx, leaving);
      else await changeRole(tx, context, { ...leaving, grant: finance });
    });
    await assert.rejects(
      acceptInvitationAnew(context, { token: back.token, name: 'Back', password: secret }),
      ended,
      end,
    );
  }
  assert.deepEqual(
    (await listInvitations(context.db, businessId)).map(({ id }) => id),
    [staying.invitation.id],
  );
});

test('a team has at most 200 people, and those who are invited count, until their invitation ends', async () => {
  const { context, clock } = world;
  const owner = await world.addOwner('owner-of-many@example.gm');
  for (let count = 0; count < 199; count += 1) await invite(owner, `many-${count}@example.gm`);
  const full = /at most 200 people, counting those who are invited/;
  await assert.rejects(invite(owner, 'one-too-many@example.gm'), full);
  const again = await invite(owner, 'many-0@example.gm');
  await acceptInvitationAnew(context, { token: again.token, name: 'First', password: secret });
  await assert.rejects(invite(owner, 'one-too-many@example.gm'), full);
  await clock.advance(7 * 24 * 3_600_000);
  assert.ok(await invite(owner, 'one-too-many@example.gm'));
});

test('an owner who invites while that person joins finds them in the team', async () => {
  const { context, clock } = world;
  const owner = await world.addOwner('owner-at-once@example.gm');
  const joining = await world.addOwner('joining@example.gm');
  const [joined, waiting] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first = context.db.withTransaction(async (tx) => {
    await lockTeam(tx, owner.businessId);
    const membership = { ...finance, businessId: owner.businessId, accountId: joining.accountId };
    await insertMembership(tx, { ...membership, roleChangedAt: clock.now(), createdAt: clock.now() });
    joined.resolve();
    await waiting.promise;
  });
  await joined.promise;
  const second = assert.rejects(invite(owner, 'joining@example.gm'), /in the team already/);
  await eventually('the invitation waits', async () => (await countWaiting(context.db)) === 1);
  waiting.resolve();
  await Promise.all([first, second]);
});

test('role taken away: it is gone at the next look', async () => {
  const { context } = world;
  const owner = await world.addOwner('owner-gone@example.gm');
  const { token } = await invite(owner, 'gone@example.gm', { role: 'developer', terminalIds: [] });
  const { account } = await acceptInvitationAnew(context, { token, name: 'Gone', password: secret });
  const { businessId } = owner;
  await context.db.withTransaction((tx) =>
    changeRole(tx, context, { businessId, accountId: account.id, grant: { role: 'cashier', terminalIds: [] } }),
  );
  assert.equal((await findMembership(context.db, businessId, account.id))?.role, 'cashier');
  await context.db.withTransaction((tx) => removeMember(tx, { businessId, accountId: account.id }));
  assert.equal(await findMembership(context.db, businessId, account.id), undefined);
});
