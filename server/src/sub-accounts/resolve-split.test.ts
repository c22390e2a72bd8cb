import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../../../test/harness/eventually.ts';
import { asOwner } from '../../../test/harness/tables.ts';
import { AppError } from '../kit/app-error.ts';
import { errorCodes } from '../kit/error-codes.ts';
import type { Transaction } from '../kit/db.ts';
import { groupThatContains, lockSubAccount, markSubAccountDeleted } from './delete-sub-account.ts';
import { resolveSplit } from './resolve-split.ts';
import type { SplitMember } from './shares.ts';
import { paths, refusal, startSubAccountApi, unknownId } from './sub-account-api.corpus.ts';
import type { SubAccountApi } from './sub-account-api.corpus.ts';

let world: SubAccountApi;
let merchantId: string;

before(async () => {
  world = await startSubAccountApi();
  merchantId = world.merchant.merchant.id;
});
after(() => world.service.stop());

const fieldNames = { subAccount: 'data.sub_account', group: 'data.sub_account_group' };

interface Named {
  subAccountId?: unknown;
  groupId?: unknown;
}

function resolve({ subAccountId, groupId }: Named, by = merchantId): Promise<SplitMember[]> {
  const text = (id: unknown) => (id === undefined ? null : String(id));
  const request = { subAccountId: text(subAccountId), groupId: text(groupId), paths: fieldNames };
  return world.service.db.withTransaction((tx) => resolveSplit(tx, by, request));
}

async function refusalOf(named: Named, by?: string): Promise<string> {
  try {
    await resolve(named, by);
    return 'nothing';
  } catch (error) {
    assert.ok(error instanceof AppError && error.statusCode === 400, String(error));
    return `${error.code} ${error.fields?.[0]?.path ?? 'no field'}`;
  }
}

const pause = (id: unknown) => world.put(`${paths.accounts}/${String(id)}`, { active: false });

describe('whom a payment is shared with', () => {
  it('is nobody where nobody is named', async () => {
    assert.deepEqual(await resolve({}), []);
  });

  it('is a sub-account with its own percentage, as it is now', async () => {
    const { id } = await world.create({ percentage: 12.5 });
    assert.deepEqual(await resolve({ subAccountId: id }), [{ subAccountId: id, percentHundredths: 1_250n }]);
    await world.put(`${paths.accounts}/${String(id)}`, { percentage: 3 });
    assert.deepEqual(await resolve({ subAccountId: id }), [{ subAccountId: id, percentHundredths: 300n }]);
  });

  it('is a group’s members in their order with the group’s percentages, whatever their own', async () => {
    const [one, other] = [await world.create({ percentage: 1 }), await world.create({ percentage: 2 })];
    const members = [
      { sub_account: other['id'], percentage: 60 },
      { sub_account: one['id'], percentage: 0.01 },
    ];
    const { id } = await world.createGroup(members);
    const expected = [
      { subAccountId: other['id'], percentHundredths: 6_000n },
      { subAccountId: one['id'], percentHundredths: 1n },
    ];
    assert.deepEqual(await resolve({ groupId: id }), expected);
    await world.put(`${paths.accounts}/${String(one['id'])}`, { percentage: 50 });
    assert.deepEqual(await resolve({ groupId: id }), expected);
  });
});

describe('a split that cannot be', () => {
  it('is refused while the sub-account, or a member of the group, is paused, and only so long', async () => {
    const [awa, resting] = [await world.create(), await world.create({ name: 'Resting' })];
    const members = [awa, resting].map(({ id }) => ({ sub_account: id, percentage: 10 }));
    const group = await world.createGroup(members);
    await pause(resting['id']);
    assert.equal(await refusalOf({ subAccountId: resting['id'] }), 'sub_account_paused data.sub_account');
    assert.equal(await refusalOf({ groupId: group['id'] }), 'sub_account_paused data.sub_account_group');
    await assert.rejects(resolve({ groupId: group['id'] }), new RegExp(`Resting.*${String(resting['id'])}`));
    assert.ok(errorCodes.sub_account_paused.stored, 'an idempotency key remembers it');
    assert.equal((await resolve({ subAccountId: awa['id'] })).length, 1);
    await world.put(`${paths.accounts}/${String(resting['id'])}`, { active: true });
    assert.equal((await resolve({ groupId: group['id'] })).length, 2);
  });

  it('is refused by its field for ids that are unknown, malformed, deleted, of another kind or another merchant’s', async () => {
    const { id: own } = await world.create();
    const { id: group } = await world.createGroup([{ sub_account: own, percentage: 10 }]);
    const { id: deleted } = await world.create();
    await world.markDeleted(deleted);
    const { id: deletedGroup } = await world.createGroup([{ sub_account: own, percentage: 10 }]);
    await world.api.send('DELETE', `${paths.groups}/${String(deletedGroup)}`);
    for (const id of [unknownId, 'nonsense', '', deleted, group]) {
      assert.equal(await refusalOf({ subAccountId: id }), 'invalid_request data.sub_account', String(id));
    }
    for (const id of [unknownId, 'nonsense', '', deletedGroup, own]) {
      assert.equal(await refusalOf({ groupId: id }), 'invalid_request data.sub_account_group', String(id));
    }
    const stranger = (await world.service.onboard('Serekunda Shoes')).test.merchant.id;
    for (const by of [stranger, world.live.merchant.id]) {
      assert.equal(await refusalOf({ subAccountId: own }, by), 'invalid_request data.sub_account');
      assert.equal(await refusalOf({ groupId: group }, by), 'invalid_request data.sub_account_group');
    }
  });

  it('is refused where both ways are named, whatever they are', async () => {
    const { id } = await world.create();
    assert.equal(await refusalOf({ subAccountId: id, groupId: unknownId }), 'invalid_request data.sub_account_group');
  });
});

describe('while a payment is being made with a sub-account', () => {
  /** Runs `meanwhile` once the transaction has done its part, and commits when that is over. */
  async function duringTransaction(
    part: (tx: Transaction) => Promise<unknown>,
    meanwhile: () => Promise<void>,
  ): Promise<void> {
    const done = Promise.withResolvers<void>();
    const mayCommit = Promise.withResolvers<void>();
    const committed = world.service.db.withTransaction(async (tx) => {
      await part(tx);
      done.resolve();
      await mayCommit.promise;
    });
    await Promise.race([done.promise, committed]);
    await meanwhile().finally(() => mayCommit.resolve());
    await committed;
  }

  const somebodyWaits = async () => {
    const text = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    return (await asOwner(world.service, text)).length > 0;
  };

  const attach = (tx: Transaction, id: unknown) =>
    resolveSplit(tx, merchantId, { subAccountId: String(id), groupId: null, paths: fieldNames });

  it('its deletion waits, so that it sees the payment', async () => {
    const { id } = await world.create();
    const order: string[] = [];
    let deletion: Promise<void> = Promise.resolve();
    await duringTransaction(
      (tx) => attach(tx, id),
      async () => {
        deletion = world.markDeleted(id).then(() => void order.push('deleted'));
        await eventually('the deletion waits', somebodyWaits);
        order.push('payment made');
      },
    );
    await deletion;
    assert.deepEqual(order, ['payment made', 'deleted']);
  });

  it('a deletion that came first is waited for, and the payment is refused', async () => {
    const { id } = await world.create();
    let refused: Promise<string> = Promise.resolve('');
    await duringTransaction(
      async (tx) => {
        const subAccount = await lockSubAccount(tx, merchantId, String(id));
        markSubAccountDeleted(tx, subAccount, world.service.clock.now());
      },
      async () => {
        refused = refusalOf({ subAccountId: id });
        await eventually('the payment waits', somebodyWaits);
      },
    );
    assert.equal(await refused, 'invalid_request data.sub_account');
  });

  it('a group that is being made with it keeps it from being deleted unseen', async () => {
    const { id } = await world.create();
    const members = [{ sub_account: id, percentage: 5 }];
    await world.createGroup(members, { name: 'Older' });
    await world.createGroup(members, { name: 'Newer' });
    const found = await world.service.db.withTransaction((tx) => groupThatContains(tx, merchantId, String(id)));
    assert.equal(found?.name, 'Older');
    const { id: free } = await world.create();
    assert.equal(
      await world.service.db.withTransaction((tx) => groupThatContains(tx, merchantId, String(free))),
      undefined,
    );
    let group: Promise<string> = Promise.resolve('');
    await duringTransaction(
      async (tx) => {
        const subAccount = await lockSubAccount(tx, merchantId, String(free));
        markSubAccountDeleted(tx, subAccount, world.service.clock.now());
      },
      async () => {
        const body = { name: 'Late', members: [{ sub_account: free, percentage: 5 }] };
        group = world.api.post(paths.groups, body).then(refusal);
        await eventually('the group waits', somebodyWaits);
      },
    );
    assert.equal(await group, '400 invalid_request members.0.sub_account');
  });

  it('its changes go through, for later payments', async () => {
    const { id } = await world.create();
    await duringTransaction(
      (tx) => attach(tx, id),
      async () => assert.equal((await pause(id)).status, 200),
    );
    assert.equal(await refusalOf({ subAccountId: id }), 'sub_account_paused data.sub_account');
  });
});
