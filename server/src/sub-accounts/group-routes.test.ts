import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { paths, refusal, startSubAccountApi, unknownId, type SubAccountApi } from './sub-account-api.corpus.ts';

let world: SubAccountApi;
/** Three sub-accounts to choose from. */
let awa: string;
let lamin: string;
let isatou: string;
const path = paths.groups;

before(async () => {
  world = await startSubAccountApi();
  const create = async (name: string) => String((await world.create({ name }))['id']);
  [awa, lamin, isatou] = [await create('Awa'), await create('Lamin'), await create('Isatou')];
});
after(() => world.service.stop());

const member = (id: unknown, percentage: unknown = 10) => ({ sub_account: id, percentage });

describe('a group', () => {
  it('has its members in order, with percentages of its own', async () => {
    const { id, createdAt, updatedAt, ...fields } = await world.createGroup([member(lamin, 60), member(awa, 0.01)]);
    assert.deepEqual(fields, {
      name: 'Rent',
      members: [
        { sub_account: lamin, name: 'Lamin', percentage: 60 },
        { sub_account: awa, name: 'Awa', percentage: 0.01 },
      ],
      test_mode: true,
    });
    assert.equal(createdAt, updatedAt);
    await world.put(`${paths.accounts}/${lamin}`, { percentage: 99 });
    const found = await world.api.get(`${path}/${String(id)}`);
    assert.deepEqual([found.status, found.body], [200, { id, ...fields, createdAt, updatedAt }]);
  });

  it('is created from both forms of body, with 1 to 20 members and percentages up to 100 in sum', async () => {
    const wrapped = await world.api.post(path, { data: { name: 'Wrapped', members: [member(awa, 100)] } });
    assert.equal(wrapped.status, 201, wrapped.text);
    const ids = [];
    for (let index = 0; index < 20; index += 1) ids.push((await world.create())['id']);
    const { members } = await world.createGroup(ids.map((id) => member(id, 5)));
    assert.deepEqual(
      (members as Record<string, unknown>[]).map(({ sub_account }) => sub_account),
      ids,
    );
  });

  it('can have a paused member, which only payments refuse', async () => {
    const { id } = await world.create({ name: 'Resting' });
    await world.put(`${paths.accounts}/${String(id)}`, { active: false });
    await world.createGroup([member(id)]);
  });

  it('accepts a member’s id in capitals, and shows its current name', async () => {
    const { id } = await world.create({ name: 'Before' });
    const group = await world.createGroup([member(String(id).toUpperCase())]);
    await world.put(`${paths.accounts}/${String(id)}`, { name: 'After' });
    const found = await world.api.get(`${path}/${String(group['id'])}`);
    assert.deepEqual(found.body['members'], [{ sub_account: id, name: 'After', percentage: 10 }]);
  });
});

describe('a change of a group', () => {
  it('replaces the name, the members, or both, in both forms of body', async () => {
    const { updatedAt: _then, ...made } = await world.createGroup([member(awa, 20), member(lamin, 30)]);
    const address = `${path}/${String(made['id'])}`;
    let expected = made;
    const changes: [object, object][] = [
      [{ name: 'School' }, { name: 'School' }],
      [{ members: [member(isatou, 5)] }, { members: [{ ...member(isatou, 5), name: 'Isatou' }] }],
      [
        { name: 'Both', members: [member(lamin, 50), member(awa, 50)] },
        {
          name: 'Both',
          members: [
            { ...member(lamin, 50), name: 'Lamin' },
            { ...member(awa, 50), name: 'Awa' },
          ],
        },
      ],
    ];
    for (const [fields, changed] of changes) {
      for (const body of [fields, { data: fields }]) {
        const response = await world.put(address, body);
        const { updatedAt: _now, ...rest } = response.body;
        expected = { ...expected, ...changed };
        assert.deepEqual([response.status, rest], [200, expected]);
      }
    }
    const { updatedAt: _now, ...found } = (await world.api.get(address)).body;
    assert.deepEqual(found, expected);
  });

  it('without fields changes nothing', async () => {
    const made = await world.createGroup([member(awa)]);
    for (const body of [{}, { data: {} }]) {
      assert.deepEqual((await world.put(`${path}/${String(made['id'])}`, body)).body, made);
    }
  });

  it('concurrent with another leaves the members of one of them', async () => {
    const { id } = await world.createGroup([member(awa)]);
    const address = `${path}/${String(id)}`;
    const choices = [[member(awa, 1), member(lamin, 2)], [member(isatou, 3)]];
    for (let round = 0; round < 5; round += 1) {
      const responses = await Promise.all(choices.map((members) => world.put(address, { members })));
      for (const response of responses) assert.equal(response.status, 200, response.text);
      const found = (await world.api.get(address)).body['members'];
      assert.ok(
        responses.some(({ body }) => JSON.stringify(body['members']) === JSON.stringify(found)),
        JSON.stringify(found),
      );
    }
  });
});

describe('an invalid group', () => {
  /** The bodies with what they are refused for; a function, because ids are known late. */
  async function bad(): Promise<[string, string, object][]> {
    const stranger = world.clientOf((await world.service.onboard('Serekunda Shoes')).test);
    const { id: foreign } = await world.create({}, stranger);
    const { id: deleted } = await world.create();
    await world.markDeleted(deleted);
    const members = (...list: object[]) => ({ members: list });
    const several = Array.from({ length: 21 }, () => member(awa, 1));
    return [
      ['members.1.sub_account', 'invalid_request', members(member(awa), member(foreign))],
      ['members.0.sub_account', 'invalid_request', members(member(deleted), member(awa))],
      ['members.2.sub_account', 'invalid_request', members(member(awa), member(lamin), member(unknownId))],
      ['members.0.sub_account', 'invalid_request', members(member('nonsense'))],
      ['members.0.sub_account', 'invalid_request', members(member(null))],
      ['members.0.sub_account', 'invalid_request', members({ percentage: 5 })],
      ['members.2.sub_account', 'invalid_request', members(member(awa), member(lamin), member(awa))],
      ['members.1.sub_account', 'invalid_request', members(member(awa), member(awa.toUpperCase()))],
      ...[0, -1, 101, 33.333, '20', null, undefined].map((percentage): [string, string, object] => [
        'members.1.percentage',
        'invalid_request',
        members(member(awa), { sub_account: lamin, percentage }),
      ]),
      ['members', 'invalid_request', members(member(awa, 60), member(lamin, 40.01))],
      ['members', 'invalid_request', members()],
      ['members', 'invalid_request', members(...several)],
      ['members', 'invalid_request', { members: member(awa) }],
      ['members.0', 'invalid_request', { members: [awa] }],
      ['members.0.name', 'unknown_field', members({ ...member(awa), name: 'Awa' })],
      ['name', 'invalid_request', { name: ' ', members: [member(awa)] }],
      ['name', 'invalid_request', { name: 'x'.repeat(201), members: [member(awa)] }],
      ['currency', 'unknown_field', { currency: 'GMD', members: [member(awa)] }],
    ];
  }

  it('is refused by field, on create and change, in both body forms, and stores nothing', async () => {
    const refusals = await bad();
    const { id } = await world.createGroup([member(awa)]);
    const before = await world.stored();
    for (const [field, code, fields] of refusals) {
      const body = { name: 'Bad', ...fields };
      const expected = `400 ${code} ${field}`;
      assert.equal(refusal(await world.api.post(path, body)), expected, JSON.stringify(fields));
      assert.equal(refusal(await world.put(`${path}/${String(id)}`, body)), expected, JSON.stringify(fields));
      assert.equal(refusal(await world.api.post(path, { data: body })), `400 ${code} data.${field}`);
    }
    assert.equal(refusal(await world.api.post(path, { members: [member(awa)] })), '400 invalid_request name');
    assert.equal(refusal(await world.api.post(path, { name: 'Nobody' })), '400 invalid_request members');
    assert.deepEqual(await world.stored(), before);
  });
});

describe('an unknown group', () => {
  it('answers 404: deleted, unknown, malformed, another merchant’s or the other environment’s', async () => {
    const { id: deleted } = await world.createGroup([member(awa)]);
    const removed = await world.api.send('DELETE', `${path}/${String(deleted)}`);
    assert.deepEqual([removed.status, removed.body], [200, { id: deleted, deleted: true }]);
    const { id: own } = await world.createGroup([member(awa)]);
    const stranger = world.clientOf((await world.service.onboard('Serekunda Shoes')).test);
    const attempts: [unknown, ReturnType<SubAccountApi['clientOf']>][] = [
      [deleted, world.api],
      [unknownId, world.api],
      ['nonsense', world.api],
      [own, stranger],
      [own, world.clientOf(world.live)],
    ];
    const before = await world.stored();
    for (const [id, by] of attempts) {
      const address = `${path}/${String(id)}`;
      assert.equal((await by.get(address)).status, 404, String(id));
      assert.equal((await world.put(address, { name: 'Mine' }, by)).status, 404, String(id));
      assert.equal((await by.send('DELETE', address)).status, 404, String(id));
    }
    assert.deepEqual(await world.stored(), before);
    assert.ok(!(await world.list(path, 'limit=100')).ids.includes(deleted));
  });
});

describe('the list of groups', () => {
  it('is newest first, in pages, and searchable by name and id', async () => {
    const api = world.clientOf((await world.service.onboard()).test);
    const { id } = await world.create({}, api);
    const made = [];
    for (const name of ['Rent', 'School 10%', 'Market']) {
      made.push(await world.createGroup([member(id)], { name }, api));
    }
    const [rent, school, market] = made;
    const all = await world.list(path, '', api);
    assert.deepEqual(all.rows, made.toReversed());
    assert.deepEqual(all.meta, { total: 3, limit: 10, offset: 0, next_cursor: null });
    const first = await world.list(path, 'limit=2', api);
    assert.deepEqual([first.ids, first.meta['next_cursor']], [[market?.['id'], school?.['id']], school?.['id']]);
    assert.deepEqual((await world.list(path, `cursor=${String(school?.['id'])}`, api)).ids, [rent?.['id']]);
    assert.deepEqual((await world.list(path, 'limit=1&offset=1', api)).ids, [school?.['id']]);
    assert.deepEqual((await world.list(path, 'term=ARK', api)).ids, [market?.['id']]);
    assert.deepEqual((await world.list(path, 'term=%25', api)).ids, [school?.['id']]);
    assert.deepEqual((await world.list(path, `search=${String(rent?.['id'])}`, api)).ids, [rent?.['id']]);
    assert.deepEqual((await world.list(path, '', world.clientOf(world.live))).ids, []);
  });
});
