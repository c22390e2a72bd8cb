import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import {
  refusal,
  startCollectingApi,
  terminalBody,
  terminals,
  unknownId,
  type CollectingApi,
} from './terminal-api.corpus.ts';

let world: CollectingApi;
const at = (id: unknown) => `${terminals}/${String(id)}`;

before(async () => {
  world = await startCollectingApi();
});
after(() => world.service.stop());

describe('a virtual terminal', () => {
  it('is created with a code, a QR code and a poster, and can be retrieved', async () => {
    const { id, code, qr_code_url: qr, createdAt, updatedAt, ...fields } = await world.newTerminal();
    const { url } = world.service;
    assert.deepEqual(fields, {
      ...terminalBody,
      poster_url: `${url}/v1/virtual-terminals/download/${String(id)}`,
      chat_delivery: terminalBody.chat_numbers.map((number) => ({
        number,
        status: null,
        updatedAt: null,
        failure: null,
      })),
      active: true,
      test_mode: true,
    });
    assert.match(String(code), /^[1-9]\d{6}$/);
    assert.match(String(qr), new RegExp(`^${url}/pos/${String(code)}-[0-9A-HJKMNP-TV-Z]{4}$`));
    assert.equal(createdAt, updatedAt);
    const found = await world.api.get(at(id));
    assert.deepEqual([found.status, found.body], [200, { id, code, qr_code_url: qr, ...fields, createdAt, updatedAt }]);
  });

  it('accepts up to ten numbers, Gambian in any usual form or foreign', async () => {
    const numbers = ['7012345', '+220 301 2345', '00220 6012345', '878012345', '+1 202 555 0100', '220-901-2345'];
    const all = [...numbers, '5012345', '4412345', '+447700900123', '2112345'];
    assert.deepEqual((await world.newTerminal({ chat_numbers: all }))['chat_numbers'], all);
    assert.deepEqual((await world.newTerminal({ chat_numbers: ['7012345'] }))['chat_numbers'], ['7012345']);
  });

  it('is created once per idempotency key', async () => {
    const headers = { 'idempotency-key': 'the same' };
    const first = await world.api.post(terminals, terminalBody, headers);
    const second = await world.api.post(terminals, terminalBody, headers);
    assert.equal(second.text, first.text);
    assert.equal(second.headers.get('idempotent-replayed'), 'true');
  });
});

describe('a change of a virtual terminal', () => {
  it('changes only the fields sent; code and QR code stay', async () => {
    const { updatedAt: _then, chat_delivery: _none, ...made } = await world.newTerminal();
    let expected: object = made;
    const changes = [
      { name: 'Till 2' },
      { chat_numbers: ['+221 77 123 45 67'] },
      { active: false },
      { active: true, name: 'Till 3' },
    ];
    for (const change of changes) {
      const response = await world.put(at(made['id']), change);
      const { updatedAt: _now, chat_delivery: delivery, ...rest } = response.body;
      expected = { ...expected, ...change };
      assert.deepEqual([response.status, rest], [200, expected], JSON.stringify(change));
      const numbers = (delivery as { number: string }[]).map(({ number }) => number);
      assert.deepEqual(numbers, rest['chat_numbers']);
    }
  });

  it('that is empty changes nothing', async () => {
    const made = await world.newTerminal();
    assert.deepEqual((await world.put(at(made['id']), {})).body, made);
  });
});

describe('a bad virtual terminal', () => {
  const eleven = Array.from({ length: 11 }, (_, index) => `70000${index + 10}`);
  const bad: [string, string, object][] = [
    ...['', '   ', 'x'.repeat(201), 5, null].map((name): [string, string, object] => [
      'name',
      'invalid_request',
      { name },
    ]),
    ...[[], eleven, 'text', null, {}].map((numbers): [string, string, object] => [
      'chat_numbers',
      'invalid_request',
      { chat_numbers: numbers },
    ]),
    ...['', '12345', 'none', '+1', '+220 12', '0044 7700 900123', '٧٠١٢٣٤٥', 'x'.repeat(33), 7012345, null].map(
      (number): [string, string, object] => [
        'chat_numbers.1',
        'invalid_request',
        { chat_numbers: ['3012345', number] },
      ],
    ),
    ['chat_numbers.2', 'invalid_request', { chat_numbers: ['7012345', '3012345', '7012345'] }],
    ['chat_numbers.1', 'invalid_request', { chat_numbers: ['7012345', '+220 87 701 2345'] }],
    ['code', 'unknown_field', { code: '1234567' }],
    ['test_mode', 'unknown_field', { test_mode: false }],
  ];

  it('is refused with the name of the field, and nothing is stored', async () => {
    const before = await world.stored();
    for (const [field, code, fields] of bad) {
      const response = await world.api.post(terminals, { ...terminalBody, ...fields });
      assert.equal(refusal(response), `400 ${code} ${field}`, JSON.stringify(fields));
    }
    for (const field of ['name', 'chat_numbers']) {
      const { [field]: _missing, ...body } = terminalBody as Record<string, unknown>;
      assert.equal(refusal(await world.api.post(terminals, body)), `400 invalid_request ${field}`);
    }
    assert.equal(refusal(await world.api.post(terminals, { data: terminalBody })), '400 unknown_field data');
    assert.equal(
      refusal(await world.api.post(terminals, { ...terminalBody, active: true })),
      '400 unknown_field active',
    );
    assert.deepEqual(await world.stored(), before);
  });

  it('is refused as a change, too, and changes nothing', async () => {
    const { id } = await world.newTerminal();
    const before = await world.stored();
    for (const [field, code, fields] of [...bad, ['active', 'invalid_request', { active: 'no' }] as const]) {
      // A valid field beside the invalid one is not stored either.
      const response = await world.put(at(id), { active: false, ...fields });
      assert.equal(refusal(response), `400 ${code} ${field}`, JSON.stringify(fields));
    }
    assert.deepEqual(await world.stored(), before);
  });

  it('is checked more strictly in live: a 9-digit number whose parts disagree is refused', async () => {
    const live = world.clientOf(world.live);
    const wrong = { ...terminalBody, chat_numbers: ['873012345'] };
    assert.equal(refusal(await live.post(terminals, wrong)), '400 invalid_request chat_numbers.0');
    assert.equal((await world.api.post(terminals, wrong)).status, 201);
  });
});

describe('a deleted virtual terminal', () => {
  it('answers 404 and leaves the list; deleting it again answers 404', async () => {
    const { id } = await world.newTerminal();
    const response = await world.remove(at(id));
    assert.deepEqual([response.status, response.body], [200, { id, deleted: true }]);
    assert.equal((await world.api.get(at(id))).status, 404);
    assert.equal((await world.put(at(id), { active: true })).status, 404);
    assert.equal((await world.remove(at(id))).status, 404);
    assert.equal((await world.api.get(`${at(id)}/summary`)).status, 404);
    assert.ok(!(await world.list(terminals, 'limit=100')).ids.includes(id));
  });
});

describe('an unknown virtual terminal', () => {
  it('answers 404: unknown, malformed, another merchant’s, the other environment’s', async () => {
    const { id: own } = await world.newTerminal();
    const stranger = (await world.service.onboard('Serekunda Shoes')).test;
    const before = await world.stored();
    for (const [id, by] of [
      [unknownId, world.api],
      ['nonsense', world.api],
      [own, world.clientOf(stranger)],
      [own, world.clientOf(world.live)],
    ] as const) {
      assert.equal((await by.get(at(id))).status, 404, String(id));
      assert.equal((await by.get(`${at(id)}/summary`)).status, 404, String(id));
      assert.equal((await world.put(at(id), { active: false }, by)).status, 404, String(id));
      assert.equal((await world.remove(at(id), by)).status, 404, String(id));
    }
    assert.deepEqual(await world.stored(), before);
    assert.deepEqual((await world.list(terminals, '', world.clientOf(stranger))).ids, []);
  });
});

describe('the list of virtual terminals', () => {
  let api: ReturnType<CollectingApi['clientOf']>;

  beforeEach(async () => {
    api = world.clientOf((await world.service.onboard()).test);
  });

  it('is newest first, in pages, by offset or by cursor', async () => {
    const made = [];
    for (let index = 0; index < 12; index += 1) made.push((await world.newTerminal({}, api))['id']);
    const ids = made.toReversed();
    const first = await world.list(terminals, '', api);
    assert.deepEqual(first.ids, ids.slice(0, 10));
    assert.deepEqual(first.meta, { total: 12, limit: 10, offset: 0, next_cursor: ids[9] });
    const next = await world.list(terminals, `cursor=${String(first.meta['next_cursor'])}`, api);
    assert.deepEqual([next.ids, next.meta['next_cursor']], [ids.slice(10), null]);
    assert.deepEqual((await world.list(terminals, 'limit=3&offset=4', api)).ids, ids.slice(4, 7));
  });

  it('searches name, code, number in either form and id; wildcards are literal', async () => {
    const one = await world.newTerminal({ name: 'Till 50% left', chat_numbers: ['701 2345'] }, api);
    const two = await world.newTerminal({ name: 'Market_stall', chat_numbers: ['3098765', '+2348012345678'] }, api);
    const found = async (term: string) => (await world.list(terminals, `term=${encodeURIComponent(term)}`, api)).ids;
    assert.deepEqual(await found('MARKET'), [two['id']]);
    assert.deepEqual(await found(String(one['code'])), [one['id']]);
    assert.deepEqual(await found('701 2345'), [one['id']]);
    assert.deepEqual(await found('+220833098765'), [two['id']]);
    assert.deepEqual(await found('+23480'), [two['id']]);
    assert.deepEqual(await found(String(two['id'])), [two['id']]);
    assert.deepEqual(await found('%'), [one['id']]);
    assert.deepEqual(await found('t_s'), [two['id']]);
    assert.deepEqual(await found(''), [two['id'], one['id']]);
    assert.deepEqual(await found('nobody'), []);
    assert.deepEqual((await world.list(terminals, 'search=stall', api)).ids, [two['id']]);
  });

  it('refuses an invalid page with the name of the parameter', async () => {
    for (const query of ['limit=abc', 'limit=0', 'limit=101', 'limit=1.5', 'offset=-1', 'cursor=nonsense']) {
      const [name] = query.split('=');
      assert.equal(refusal(await api.get(`${terminals}?${query}`)), `400 invalid_request ${name}`, query);
    }
    assert.equal(refusal(await api.get(`${terminals}?status=active`)), '400 unknown_field status');
  });
});
