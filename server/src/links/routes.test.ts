import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { links, refusal, startCollectingApi, unknownId, type CollectingApi } from '../terminals/terminal-api.corpus.ts';

let world: CollectingApi;
const at = (id: unknown) => `${links}/${String(id)}`;
const single = (id: unknown) => `${links}/single/${String(id)}`;

before(async () => {
  world = await startCollectingApi();
});
after(() => world.service.stop());

const whole = {
  title: 'School fees',
  amount: 1_500.5,
  currency: 'GMD',
  description: 'Second term',
  metadata: { term: 2 },
  redirect_url: 'https://school.example/thanks',
  cancel_url: 'http://localhost:3000/back',
  custom_fields: ['Student', 'Class'],
};

describe('a payment link', () => {
  it('is created from a title alone', async () => {
    const { id, url, createdAt, updatedAt, ...fields } = await world.newLink();
    assert.deepEqual(fields, {
      title: 'School fees',
      description: null,
      amount: null,
      min_amount: null,
      currency: 'GMD',
      metadata: {},
      redirect_url: null,
      cancel_url: null,
      custom_fields: [],
      sub_account: null,
      sub_account_group: null,
      status: 'active',
      test_mode: true,
    });
    const { shortId } = world.merchant.merchant;
    assert.match(String(url), new RegExp(`^${world.service.url}/link/${shortId}[0-9A-Za-z]{22}$`));
    assert.equal(createdAt, updatedAt);
    for (const address of [at(id), single(id)]) {
      const found = await world.api.get(address);
      assert.deepEqual([found.status, found.body], [200, { id, url, ...fields, createdAt, updatedAt }]);
    }
  });

  it('is created with all fields', async () => {
    const sub = await world.newSubAccount();
    const link = await world.newLink({ ...whole, sub_account: sub });
    const { id: _id, url: _url, createdAt: _created, updatedAt: _updated, ...fields } = link;
    const rest = { sub_account: sub, sub_account_group: null, min_amount: null, status: 'active', test_mode: true };
    assert.deepEqual(fields, { ...whole, ...rest });
    assert.equal((await world.newLink({ sub_account: sub.toUpperCase() }))['sub_account'], sub);
    assert.equal((await world.newLink({ min_amount: 10.5 }))['min_amount'], 10.5);
    const nothing = Object.fromEntries(Object.keys({ ...whole, ...rest }).map((name) => [name, null]));
    const { status: _status, test_mode: _mode, title: _title, ...optional } = nothing;
    assert.equal((await world.newLink(optional))['amount'], null);
  });

  it('has a unique URL', async () => {
    const urls = await Promise.all(Array.from({ length: 20 }, async () => (await world.newLink())['url']));
    assert.equal(new Set(urls).size, 20);
  });

  it('trims its custom fields', async () => {
    assert.deepEqual((await world.newLink({ custom_fields: [' Student '] }))['custom_fields'], ['Student']);
  });
});

describe('a change of a payment link', () => {
  it('changes only the fields sent, in both forms of body and at both paths; the URL stays', async () => {
    const { updatedAt: _then, ...made } = await world.newLink(whole);
    const sub = await world.newSubAccount();
    let expected: object = made;
    const changes: [object, object?][] = [
      [{ title: 'Third term' }],
      [{ description: null }],
      [{ metadata: { term: 3 } }],
      [{ metadata: null }, { metadata: {} }],
      [{ redirect_url: 'https://school.example/' }],
      [{ cancel_url: null }],
      [{ custom_fields: ['Name'] }],
      [{ custom_fields: null }, { custom_fields: [] }],
      [{ status: 'inactive' }],
      [{ amount: null, min_amount: 5 }],
      [{ min_amount: null, amount: 20 }],
      [{ sub_account: sub }],
      [{ sub_account: null, sub_account_group: null }],
      [{ status: 'active', title: 'Fourth term', currency: 'GMD' }],
    ];
    for (const [change, shown = change] of changes) {
      for (const [address, body] of [
        [at(made['id']), change],
        [single(made['id']), { data: change }],
      ] as const) {
        const response = await world.put(address, body);
        const { updatedAt: _now, ...rest } = response.body;
        expected = { ...expected, ...shown };
        assert.deepEqual([response.status, rest], [200, expected], JSON.stringify(body));
      }
    }
  });

  it('that is empty changes nothing', async () => {
    const made = await world.newLink(whole);
    for (const body of [{}, { data: {} }]) assert.deepEqual((await world.put(at(made['id']), body)).body, made);
  });

  it('refuses amount and min_amount together, even if one was set before', async () => {
    const fixed = await world.newLink({ amount: 10 });
    const open = await world.newLink({ min_amount: 10 });
    for (const [{ id }, change] of [
      [fixed, { min_amount: 5 }],
      [open, { amount: 20 }],
    ] as const) {
      assert.equal(refusal(await world.put(at(id), change)), '400 invalid_request min_amount');
      assert.equal(refusal(await world.put(at(id), { data: change })), '400 invalid_request data.min_amount');
    }
  });

  it('of its title is accepted while its sub-account is paused', async () => {
    const sub = await world.newSubAccount();
    const { id } = await world.newLink({ sub_account: sub });
    await world.put(`/v1/sub-accounts/${sub}`, { active: false });
    assert.equal((await world.put(at(id), { title: 'Changed' })).status, 200);
    assert.equal(refusal(await world.put(at(id), { amount: 20 })), '400 sub_account_paused sub_account');
    assert.equal((await world.put(at(id), { amount: 20, sub_account: null })).status, 200);
  });
});

describe('a bad payment link', () => {
  const many = Array.from({ length: 11 }, (_, index) => `Field ${index}`);
  const of = (field: string, values: unknown[], code = 'invalid_request'): [string, string, object][] =>
    values.map((value) => [field, code, { [field]: value }]);
  const bad: [string, string, object][] = [
    ...of('title', ['', '   ', 'x'.repeat(201), 5, null]),
    ...of('description', ['', 'x'.repeat(501), 5]),
    ...of('amount', [-1, 0.001, 1e21, '20', true, []]),
    ...of('amount', [0, 0.99, 1_000_000.01], 'amount_out_of_bounds'),
    ...of('min_amount', [-1, 0.001, '20']),
    ...of('min_amount', [0, 0.99, 1_000_000.01], 'amount_out_of_bounds'),
    ['min_amount', 'invalid_request', { amount: 20, min_amount: 10 }],
    ...of('currency', ['USD', 'gmd'], 'currency_not_supported'),
    ...of('currency', ['GMDX', 5]),
    ...of('metadata', ['text', [], Object.fromEntries(many.map((_, index) => [`${'k'.repeat(41)}${index}`, 1]))]),
    ...of('redirect_url', ['nonsense', 'ftp://shop.example', 'javascript:alert(1)', 'shop://done'], 'url_not_allowed'),
    ...of('redirect_url', ['https://user:word@shop.example'], 'url_not_allowed'),
    ...of('redirect_url', ['', 5]),
    ...of('cancel_url', ['javascript:alert(1)', ' data:text/html,x'], 'url_not_allowed'),
    ...of('custom_fields', [[], many, 'Student', {}]),
    ['custom_fields.0', 'invalid_request', { custom_fields: [''] }],
    ['custom_fields.0', 'invalid_request', { custom_fields: ['  '] }],
    ['custom_fields.1', 'invalid_request', { custom_fields: ['Class', 'x'.repeat(41)] }],
    ['custom_fields.1', 'invalid_request', { custom_fields: ['Class', 5] }],
    ['custom_fields.1', 'invalid_request', { custom_fields: ['Class', ' class '] }],
    ['custom_fields.0', 'invalid_request', { custom_fields: ['__proto__'] }],
    ...of('sub_account', [unknownId, 'nonsense', '', 5]),
    ...of('sub_account_group', [unknownId, 'nonsense']),
    ['sub_account_group', 'invalid_request', { sub_account: unknownId, sub_account_group: unknownId }],
    ...of('url', ['https://pay.example/link/mine'], 'unknown_field'),
    ...of('token', ['mine'], 'unknown_field'),
  ];

  it('is refused with the name of the field, and nothing is stored', async () => {
    const before = await world.stored();
    for (const [field, code, fields] of bad) {
      const response = await world.api.post(links, { data: { title: 'School fees', ...fields } });
      assert.ok(
        refusal(response).startsWith(`400 ${code} data.${field}`),
        `${JSON.stringify(fields)}: ${response.text}`,
      );
    }
    assert.equal(refusal(await world.api.post(links, { data: {} })), '400 invalid_request data.title');
    assert.equal(refusal(await world.api.post(links, { title: 'Bare' })), '400 unknown_field title');
    const sent = { data: { title: 'A', status: 'active' } };
    assert.equal(refusal(await world.api.post(links, sent)), '400 unknown_field data.status');
    assert.deepEqual(await world.stored(), before);
  });

  it('is refused as a change, too, and changes nothing', async () => {
    const { id } = await world.newLink();
    const before = await world.stored();
    for (const [field, code, fields] of [...bad, ...of('status', ['paused', '', null, true])]) {
      // A valid field beside the invalid one is not stored either.
      const body = { description: 'Changed', ...fields };
      const [bare, wrapped] = [await world.put(at(id), body), await world.put(at(id), { data: body })];
      assert.ok(refusal(bare).startsWith(`400 ${code} ${field}`), `${JSON.stringify(fields)}: ${bare.text}`);
      assert.ok(refusal(wrapped).startsWith(`400 ${code} data.${field}`), `${JSON.stringify(fields)}: ${wrapped.text}`);
    }
    assert.deepEqual(await world.stored(), before);
  });

  it('refuses a paused, foreign or wrong-environment sub-account, and an amount too small to share', async () => {
    const sub = await world.newSubAccount();
    const second = await world.newSubAccount();
    const stranger = world.clientOf((await world.service.onboard('Serekunda Shoes')).test);
    const shared = (fields: object) => ({ data: { title: 'Shared', sub_account: sub, ...fields } });
    const foreign = await stranger.post(links, shared({}));
    assert.equal(refusal(foreign), '400 invalid_request data.sub_account');
    const live = await world.clientOf(world.live).post(links, shared({}));
    assert.equal(refusal(live), '400 invalid_request data.sub_account');
    const members = [sub, second].map((id) => ({ sub_account: id, percentage: 10 }));
    const group = (await world.api.post('/v1/sub-account-groups', { name: 'Two', members })).body['id'];
    const small = await world.api.post(links, { data: { title: 'Shared', amount: 1.5, sub_account_group: group } });
    assert.equal(refusal(small), '400 split_exceeds_amount data.amount');
    assert.equal((await world.newLink({ amount: 2, sub_account_group: group }))['sub_account_group'], group);
    await world.put(`/v1/sub-accounts/${sub}`, { active: false });
    assert.equal(refusal(await world.api.post(links, shared({}))), '400 sub_account_paused data.sub_account');
    const paused = { data: { title: 'Shared', sub_account_group: group } };
    assert.equal(refusal(await world.api.post(links, paused)), '400 sub_account_paused data.sub_account_group');
  });
});

describe('an unknown payment link', () => {
  it('answers 404: unknown, malformed, another merchant’s, the other environment’s, or deleted', async () => {
    const { id: gone } = await world.newLink();
    const response = await world.remove(at(gone));
    assert.deepEqual([response.status, response.body], [200, { id: gone, deleted: true }]);
    const { id: other } = await world.newLink();
    assert.deepEqual((await world.remove(single(other))).body, { id: other, deleted: true });
    const { id: own } = await world.newLink();
    const stranger = (await world.service.onboard('Serekunda Shoes')).test;
    const before = await world.stored();
    for (const [id, by] of [
      [unknownId, world.api],
      ['nonsense', world.api],
      [gone, world.api],
      [other, world.api],
      [own, world.clientOf(stranger)],
      [own, world.clientOf(world.live)],
    ] as const) {
      for (const address of [at(id), single(id)]) {
        assert.equal((await by.get(address)).status, 404, address);
        assert.equal((await world.put(address, { status: 'inactive' }, by)).status, 404, address);
        assert.equal((await world.remove(address, by)).status, 404, address);
      }
    }
    assert.deepEqual(await world.stored(), before);
    assert.ok(!(await world.list(links, 'limit=100')).ids.includes(gone));
    assert.deepEqual((await world.list(links, '', world.clientOf(stranger))).ids, []);
  });
});

describe('the list of payment links', () => {
  let api: ReturnType<CollectingApi['clientOf']>;

  beforeEach(async () => {
    api = world.clientOf((await world.service.onboard()).test);
  });

  it('is newest first, in pages, by offset or by cursor', async () => {
    const made = [];
    for (let index = 0; index < 12; index += 1) made.push((await world.newLink({}, api))['id']);
    const ids = made.toReversed();
    const first = await world.list(links, '', api);
    assert.deepEqual(first.ids, ids.slice(0, 10));
    assert.deepEqual(first.meta, { total: 12, limit: 10, offset: 0, next_cursor: ids[9] });
    const next = await world.list(links, `cursor=${String(first.meta['next_cursor'])}`, api);
    assert.deepEqual([next.ids, next.meta['next_cursor']], [ids.slice(10), null]);
    assert.deepEqual((await world.list(links, 'limit=3&offset=4', api)).ids, ids.slice(4, 7));
    assert.equal(refusal(await api.get(`${links}?limit=abc`)), '400 invalid_request limit');
    assert.equal(refusal(await api.get(`${links}?status=paused`)), '400 invalid_request status');
  });

  it('searches title, description, token and id, and filters by status', async () => {
    const fees = await world.newLink({ title: 'Fees 50%' }, api);
    const trip = await world.newLink({ title: 'Trip', description: 'To Janjanbureh' }, api);
    await world.put(at(fees['id']), { status: 'inactive' }, api);
    const found = async (query: string) => (await world.list(links, query, api)).ids;
    const token = String(trip['url']).split('/').at(-1);
    assert.deepEqual(await found('term=FEES'), [fees['id']]);
    assert.deepEqual(await found('term=janjan'), [trip['id']]);
    assert.deepEqual(await found(`term=${token}`), [trip['id']]);
    assert.deepEqual(await found(`term=${String(fees['id'])}`), [fees['id']]);
    assert.deepEqual(await found('term=%25'), [fees['id']]);
    assert.deepEqual(await found('term='), [trip['id'], fees['id']]);
    assert.deepEqual(await found('status=active'), [trip['id']]);
    assert.deepEqual(await found('status=inactive'), [fees['id']]);
    assert.deepEqual(await found('status=inactive&search=trip'), []);
  });
});
