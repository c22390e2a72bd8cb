import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createApiClient } from '../../../test/harness/api-client.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { asOwner, dumpTables } from '../../../test/harness/tables.ts';
import { AppError } from '../api/app-error.ts';
import { errorCodes } from '../api/error-codes.ts';
import type { Transaction } from '../kit/db.ts';
import { findGroupOf } from './manage-groups.ts';
import { getSubAccountForDeletion, markSubAccountDeleted } from './manage-sub-accounts.ts';
import { resolveSplit } from './resolve-split.ts';
import type { SplitMember } from './shares.ts';
import { paths, refusal, startSubAccountApi, unknownId, type SubAccountApi } from './sub-account-api.corpus.ts';

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

describe('the split of a payment', () => {
  it('is empty for a request that names no sub-account and no group', async () => {
    assert.deepEqual(await resolve({}), []);
  });

  it('of a sub-account has its current percentage', async () => {
    const { id } = await world.create({ percentage: 12.5 });
    assert.deepEqual(await resolve({ subAccountId: id }), [{ subAccountId: id, percentHundredths: 1_250n }]);
    await world.put(`${paths.accounts}/${String(id)}`, { percentage: 3 });
    assert.deepEqual(await resolve({ subAccountId: id }), [{ subAccountId: id, percentHundredths: 300n }]);
  });

  it('of a group has its members in order with the group’s percentages', async () => {
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

describe('an invalid split', () => {
  it('is refused exactly while the sub-account or a member of the group is paused', async () => {
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

  it('is refused by field for unknown, malformed, deleted, foreign or wrong-kind ids', async () => {
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

  it('is refused where the request names both a sub-account and a group', async () => {
    const { id } = await world.create();
    assert.equal(await refusalOf({ subAccountId: id, groupId: unknownId }), 'invalid_request data.sub_account_group');
  });
});

describe('a payment or preview over the API', () => {
  /** What may not be combined with this merchant, and which field says so; ids are known late. */
  async function wrongCombinations(): Promise<[object, string][]> {
    const { id: own } = await world.create();
    const { id: group } = await world.createGroup([{ sub_account: own, percentage: 10 }]);
    const { id: resting } = await world.create({ name: 'Resting' });
    const { id: restingGroup } = await world.createGroup([{ sub_account: resting, percentage: 10 }]);
    await pause(resting);
    const { id: deleted } = await world.create();
    await world.markDeleted(deleted);
    const stranger = world.clientOf((await world.service.onboard('Serekunda Shoes')).test);
    const { id: foreign } = await world.create({}, stranger);
    const { id: foreignGroup } = await world.createGroup([{ sub_account: foreign, percentage: 10 }], {}, stranger);
    return [
      ...[foreign, deleted, group, unknownId, 'nonsense'].map((id): [object, string] => [
        { sub_account: id },
        'invalid_request sub_account',
      ]),
      ...[foreignGroup, own, unknownId, 'nonsense'].map((id): [object, string] => [
        { sub_account_group: id },
        'invalid_request sub_account_group',
      ]),
      [{ sub_account: resting }, 'sub_account_paused sub_account'],
      [{ sub_account_group: restingGroup }, 'sub_account_paused sub_account_group'],
      [{ sub_account: own, sub_account_group: group }, 'invalid_request sub_account_group'],
    ];
  }

  it('with an invalid split is refused by field before anything is stored', async () => {
    const combinations = await wrongCombinations();
    const before = await dumpTables(world.service);
    for (const [fields, expected] of combinations) {
      const [code, field] = expected.split(' ');
      const fieldsText = JSON.stringify(fields);
      for (const path of ['/v1/payments', '/v1/payments/preview']) {
        const inside = await world.api.post(path, { data: { amount: 100, ...fields } });
        assert.equal(refusal(inside), `400 ${code} data.${field}`, fieldsText);
        const beside = await world.api.post(path, { data: { amount: 100 }, ...fields });
        assert.equal(refusal(beside), `400 ${code} ${field}`, fieldsText);
      }
    }
    const direct = { network: 'wave', account_number: '7000001', sub_account: unknownId };
    const response = await world.api.post('/v1/payments', { data: { amount: 100, ...direct } });
    assert.equal(refusal(response), '400 invalid_request data.sub_account');
    const after = await dumpTables(world.service);
    const tables = ['payment_intents', 'intent_shares', 'charges', 'events', 'outbox', 'ledger_movements'];
    for (const table of tables) assert.equal(after.get(`public.${table}`), before.get(`public.${table}`), table);
  });

  it('with a live key never finds a test sub-account', async () => {
    const { id } = await world.create();
    const live = world.clientOf(world.live);
    const response = await live.post('/v1/payments', { data: { amount: 100, sub_account: id } });
    assert.equal(refusal(response), '400 invalid_request data.sub_account');
  });

  it('too small for its group is refused with the sums, and the key replays it', async () => {
    const ids = [await world.create(), await world.create(), await world.create()].map(({ id }) => id);
    const { id: group } = await world.createGroup(ids.map((id) => ({ sub_account: id, percentage: 1 })));
    const headers = { 'idempotency-key': 'too small' };
    const body = { data: { amount: 2.99, sub_account_group: group } };
    const refused = await world.api.post('/v1/payments', body, headers);
    assert.equal(refusal(refused), '400 split_exceeds_amount data.amount');
    assert.match(String(refused.body['message']), /D3\.00 together.*D2\.99/);
    // A remembered answer carries the request id of the first one, which the contract's client would not take.
    const again = await createApiClient(world.service.url, world.merchant.key).post('/v1/payments', body, headers);
    assert.equal(again.text, refused.text);
    assert.equal((await world.api.post('/v1/payments', { data: { ...body.data, amount: 3 } })).status, 201);
  });
});

describe('while a transaction attaches a sub-account', () => {
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

  it('a deletion waits for the payment and finds it', async () => {
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

  it('a payment waits for an earlier deletion, and is refused', async () => {
    const { id } = await world.create();
    let refused: Promise<string> = Promise.resolve('');
    await duringTransaction(
      async (tx) => {
        const subAccount = await getSubAccountForDeletion(tx, merchantId, String(id));
        tx.send(markSubAccountDeleted(subAccount, world.service.clock.now()));
      },
      async () => {
        refused = refusalOf({ subAccountId: id });
        await eventually('the payment waits', somebodyWaits);
      },
    );
    assert.equal(await refused, 'invalid_request data.sub_account');
  });

  it('a deletion waits for a new group and finds it', async () => {
    const { id } = await world.create();
    const members = [{ sub_account: id, percentage: 5 }];
    await world.createGroup(members, { name: 'Older' });
    await world.createGroup(members, { name: 'Newer' });
    const found = await world.service.db.withTransaction((tx) => findGroupOf(tx, merchantId, String(id)));
    assert.equal(found?.name, 'Older');
    const { id: free } = await world.create();
    assert.equal(await world.service.db.withTransaction((tx) => findGroupOf(tx, merchantId, String(free))), undefined);
    let group: Promise<string> = Promise.resolve('');
    await duringTransaction(
      async (tx) => {
        const subAccount = await getSubAccountForDeletion(tx, merchantId, String(free));
        tx.send(markSubAccountDeleted(subAccount, world.service.clock.now()));
      },
      async () => {
        const body = { name: 'Late', members: [{ sub_account: free, percentage: 5 }] };
        group = world.api.post(paths.groups, body).then(refusal);
        await eventually('the group waits', somebodyWaits);
      },
    );
    assert.equal(await group, '400 invalid_request members.0.sub_account');
  });

  it('changes of it go through, for later payments', async () => {
    const { id } = await world.create();
    await duringTransaction(
      (tx) => attach(tx, id),
      async () => assert.equal((await pause(id)).status, 200),
    );
    assert.equal(await refusalOf({ subAccountId: id }), 'sub_account_paused data.sub_account');
  });
});
