import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { asOwner } from '../../../test/harness/tables.ts';
import { lockBalance } from '../ledger/post.ts';
import { pendingAccount, settledAccount } from './ledger-accounts.ts';
import {
  paths,
  refusal,
  startSubAccountApi,
  subAccountBody,
  unknownId,
  type SubAccountApi,
} from './sub-account-api.corpus.ts';

let world: SubAccountApi;
const path = paths.accounts;

before(async () => {
  world = await startSubAccountApi();
});
after(() => world.service.stop());

describe('a sub-account', () => {
  it('is created with every field, and found again', async () => {
    const { id, createdAt, updatedAt, ...fields } = await world.create();
    assert.deepEqual(fields, {
      name: 'Awa Ceesay',
      percentage: 12.5,
      settlement_code: 'wave',
      account_number: '701 2345',
      active: true,
      balance: 0,
      currency: 'GMD',
      test_mode: true,
    });
    assert.equal(createdAt, updatedAt);
    const found = await world.api.get(`${path}/${String(id)}`);
    assert.deepEqual([found.status, found.body], [200, { id, ...fields, createdAt, updatedAt }]);
  });

  it('is created from both forms of body, from business_name, and from a JSON number', async () => {
    const { name, ...rest } = subAccountBody;
    const bodies = [
      { data: subAccountBody },
      { business_name: name, ...rest },
      { data: { business_name: name, ...rest } },
      { ...subAccountBody, account_number: 7012345 },
      { data: { ...subAccountBody, account_number: 2207012345 } },
    ];
    const numbers = [];
    for (const body of bodies) {
      const response = await world.api.post(path, body);
      assert.deepEqual([response.status, response.body['name']], [201, name], response.text);
      numbers.push(response.body['account_number']);
    }
    assert.deepEqual(numbers, ['701 2345', '701 2345', '701 2345', '7012345', '2207012345']);
  });

  it('has a percentage above 0, at most 100, with at most two decimals', async () => {
    for (const percentage of [0.01, 1, 33.33, 99.99, 100]) {
      assert.equal((await world.create({ percentage }))['percentage'], percentage);
    }
  });

  it('is created once for an idempotency key', async () => {
    const headers = { 'idempotency-key': 'the same' };
    const [first, second] = [
      await world.api.post(path, subAccountBody, headers),
      await world.api.post(path, subAccountBody, headers),
    ];
    assert.equal(second.text, first.text);
    assert.equal(second.headers.get('idempotent-replayed'), 'true');
  });

  it('shows its whole balance, settled or not, folded or not', async () => {
    const { id } = await world.create();
    const settled = settledAccount(String(id));
    const balance = async () => (await world.api.get(`${path}/${String(id)}`)).body['balance'];
    await world.credit(settled, 4_500n);
    assert.equal(await balance(), 45);
    await world.credit(pendingAccount(String(id)), 700n);
    assert.equal(await balance(), 52);
    const { id: merchantId, currency } = world.merchant.merchant;
    await world.service.db.withTransaction((tx) => lockBalance(tx, { merchantId, account: settled, currency }));
    await world.credit(settled, 55n);
    assert.equal(await balance(), 52.55);
    assert.equal((await world.put(`${path}/${String(id)}`, { active: false })).body['balance'], 52.55);
  });
});

describe('a change of a sub-account', () => {
  const changes: [object, object][] = [
    [{ name: 'Lamin' }, { name: 'Lamin' }],
    [{ business_name: 'Lamin Bah' }, { name: 'Lamin Bah' }],
    [{ percentage: 0.5 }, { percentage: 0.5 }],
    [{ settlement_code: 'aps' }, { settlement_code: 'aps' }],
    [{ account_number: 3012345 }, { account_number: '3012345' }],
    [{ active: false }, { active: false }],
    [
      { active: true, percentage: 7 },
      { active: true, percentage: 7 },
    ],
  ];

  it('changes only the fields sent, in both forms of body', async () => {
    const { updatedAt: _then, ...made } = await world.create();
    let expected: object = made;
    for (const [fields, changed] of changes) {
      for (const body of [fields, { data: fields }]) {
        const response = await world.put(`${path}/${String(made['id'])}`, body);
        const { updatedAt: _now, ...rest } = response.body;
        expected = { ...expected, ...changed };
        assert.deepEqual([response.status, rest], [200, expected], JSON.stringify(body));
      }
    }
    const { updatedAt: _now, ...found } = (await world.api.get(`${path}/${String(made['id'])}`)).body;
    assert.deepEqual(found, expected);
  });

  it('without fields changes nothing', async () => {
    const made = await world.create();
    for (const body of [{}, { data: {} }]) {
      assert.deepEqual((await world.put(`${path}/${String(made['id'])}`, body)).body, made);
    }
  });
});

describe('an id in capitals', () => {
  it('is returned, and stands in the audit log, as the record has it', async () => {
    const id = String((await world.create())['id']);
    const address = `${path}/${id.toUpperCase()}`;
    assert.equal((await world.put(address, { account_number: '3012345' })).status, 200);
    assert.deepEqual((await world.api.send('DELETE', address)).body, { id, deleted: true });
    const entries = await asOwner<{ action: string }>(
      world.service,
      'SELECT action FROM audit_entries WHERE object_id = $1 ORDER BY id',
      [id],
    );
    assert.deepEqual(
      entries.map(({ action }) => action),
      ['createSubAccount', 'updateSubAccount', 'deleteSubAccount'],
    );
  });
});

describe('an invalid sub-account', () => {
  const bad: [string, string, object][] = [
    ...[0, -1, 100.01, 101, 33.333, 1e21, '20', 'ten', true, null, [20], {}].map(
      (percentage): [string, string, object] => ['percentage', 'invalid_request', { percentage }],
    ),
    ...['cash', 'WAVE', ''].map((code): [string, string, object] => [
      'settlement_code',
      code === '' ? 'invalid_request' : 'network_not_available',
      { settlement_code: code },
    ]),
    ['settlement_code', 'invalid_request', { settlement_code: 7 }],
    ...['12345', '70123456', '+1 202 555 0100', 'none', ' ', 12345, 70123456789].map(
      (account_number): [string, string, object] => ['account_number', 'account_number_invalid', { account_number }],
    ),
    ...['', 'x'.repeat(33), -7012345, 7012345.5, true, null].map((account_number): [string, string, object] => [
      'account_number',
      'invalid_request',
      { account_number },
    ]),
    ...['', '   ', 'x'.repeat(201), 5, null].map((name): [string, string, object] => [
      'name',
      'invalid_request',
      { name },
    ]),
    ['business_name', 'invalid_request', { business_name: 'Also this' }],
    ['balance', 'unknown_field', { balance: 1_000 }],
    ['test_mode', 'unknown_field', { test_mode: false }],
    ['account_canonical', 'unknown_field', { account_canonical: '+2207012345' }],
  ];

  it('is refused by field, in both forms of body, and nothing is stored', async () => {
    const before = await world.stored();
    for (const [field, code, fields] of bad) {
      const body = { ...subAccountBody, ...fields };
      assert.equal(refusal(await world.api.post(path, body)), `400 ${code} ${field}`, JSON.stringify(fields));
      assert.equal(refusal(await world.api.post(path, { data: body })), `400 ${code} data.${field}`);
    }
    for (const field of ['name', 'percentage', 'settlement_code', 'account_number']) {
      const { [field]: _missing, ...body } = subAccountBody as Record<string, unknown>;
      assert.equal(refusal(await world.api.post(path, body)), `400 invalid_request ${field}`);
      assert.equal(refusal(await world.api.post(path, { data: body })), `400 invalid_request data.${field}`);
    }
    assert.deepEqual(await world.stored(), before);
  });

  it('is refused as a change by field, and changes nothing', async () => {
    const { id } = await world.create();
    const before = await world.stored();
    for (const [field, code, fields] of [
      ...bad.filter(([name]) => name !== 'business_name'),
      ['business_name', 'invalid_request', { name: 'One', business_name: 'Two' }] as const,
      ['active', 'invalid_request', { active: 'no' }] as const,
    ]) {
      // A field that is right beside the wrong one is not stored either.
      const body = { active: false, ...fields };
      const address = `${path}/${String(id)}`;
      assert.equal(refusal(await world.put(address, body)), `400 ${code} ${field}`, JSON.stringify(fields));
      assert.equal(refusal(await world.put(address, { data: body })), `400 ${code} data.${field}`);
    }
    assert.deepEqual(await world.stored(), before);
  });

  it('is refused where body and wrapper are mixed or of another type', async () => {
    const refused: [unknown, string][] = [
      [{ data: subAccountBody, name: 'Beside' }, '400 unknown_field name'],
      [{ data: 5 }, '400 invalid_request data'],
      [{ data: null }, '400 invalid_request data'],
      [{ data: { data: subAccountBody } }, '400 invalid_request data.percentage'],
      [[], '400 invalid_request '],
    ];
    for (const [body, expected] of refused) assert.equal(refusal(await world.api.post(path, body)), expected);
    assert.equal(refusal(await world.api.post(path)), '400 invalid_request no field');
  });

  it('cannot be live where no network pays out in live', async () => {
    const response = await world.clientOf(world.live).post(path, subAccountBody);
    assert.equal(refusal(response), '400 network_not_available settlement_code');
  });
});

describe('an unknown sub-account', () => {
  it('answers 404: unknown, malformed, another merchant’s, the other environment’s, or deleted', async () => {
    const { id: deleted } = await world.create();
    await world.markDeleted(deleted);
    const { id: own } = await world.create();
    const stranger = (await world.service.onboard('Serekunda Shoes')).test;
    const attempts: [unknown, ReturnType<SubAccountApi['clientOf']>][] = [
      [unknownId, world.api],
      ['nonsense', world.api],
      [deleted, world.api],
      [own, world.clientOf(stranger)],
      [own, world.clientOf(world.live)],
    ];
    const before = await world.stored();
    for (const [id, by] of attempts) {
      assert.equal((await by.get(`${path}/${String(id)}`)).status, 404, String(id));
      assert.equal((await world.put(`${path}/${String(id)}`, { active: false }, by)).status, 404, String(id));
    }
    assert.deepEqual(await world.stored(), before);
    await assert.rejects(world.markDeleted(deleted), /no sub-account/);
    assert.ok(!(await world.list(path, 'limit=100')).ids.includes(deleted));
    assert.deepEqual((await world.list(path, '', world.clientOf(stranger))).ids, []);
  });
});

describe('the list of sub-accounts', () => {
  let api: ReturnType<SubAccountApi['clientOf']>;

  beforeEach(async () => {
    api = world.clientOf((await world.service.onboard()).test);
  });

  it('is newest first, in pages, by offset or by cursor', async () => {
    const made = [];
    for (let index = 0; index < 12; index += 1) made.push((await world.create({}, api))['id']);
    const ids = made.toReversed();
    const first = await world.list(path, '', api);
    assert.deepEqual(first.ids, ids.slice(0, 10));
    assert.deepEqual(first.meta, { total: 12, limit: 10, offset: 0, next_cursor: ids[9] });
    const next = await world.list(path, `cursor=${String(first.meta['next_cursor'])}`, api);
    assert.deepEqual([next.ids, next.meta['next_cursor']], [ids.slice(10), null]);
    assert.deepEqual((await world.list(path, 'limit=3&offset=4', api)).ids, ids.slice(4, 7));
    assert.equal((await api.get(`${path}?limit=abc`)).status, 400);
  });

  it('finds by name, number in either form, network and id; wildcards match themselves', async () => {
    const awa = await world.create({ name: 'Awa 50% Ceesay' }, api);
    const lamin = await world.create({ name: 'Lamin_Bah', account_number: '3098765', settlement_code: 'aps' }, api);
    const found = async (term: string) => (await world.list(path, `term=${encodeURIComponent(term)}`, api)).ids;
    assert.deepEqual(await found('CEESAY'), [awa['id']]);
    assert.deepEqual(await found('+220833098765'), [lamin['id']]);
    assert.deepEqual(await found('309876'), [lamin['id']]);
    assert.deepEqual(await found('aps'), [lamin['id']]);
    assert.deepEqual(await found(String(awa['id'])), [awa['id']]);
    assert.deepEqual(await found('50%'), [awa['id']]);
    assert.deepEqual(await found('%'), [awa['id']]);
    assert.deepEqual(await found('n_b'), [lamin['id']]);
    assert.deepEqual(await found(''), [lamin['id'], awa['id']]);
    assert.deepEqual(await found('nobody'), []);
    assert.deepEqual((await world.list(path, 'search=awa', api)).ids, [awa['id']]);
  });

  it('shows each sub-account’s balance', async () => {
    const rich = await world.create({ name: 'Balance one' });
    const poor = await world.create({ name: 'Balance two' });
    const richer = await world.create({ name: 'Balance three' });
    await world.credit(settledAccount(String(rich['id'])), 1_000n);
    await world.credit(pendingAccount(String(richer['id'])), 2_000n);
    await world.credit(settledAccount(String(richer['id'])), 3_050n);
    const { rows } = await world.list(path, 'term=Balance');
    assert.deepEqual(
      rows.map(({ id, balance }) => [id, balance]),
      [
        [richer['id'], 50.5],
        [poor['id'], 0],
        [rich['id'], 10],
      ],
    );
  });
});
