import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { asOwner } from '../../../test/harness/tables.ts';
import { refusal, startCollectingApi, unknownId, type CollectingApi } from '../terminals/terminal-api.corpus.ts';

let world: CollectingApi;
const path = '/v1/transactions';

before(async () => {
  world = await startCollectingApi();
});
after(() => world.service.stop());

/** A payment with its transaction, started at a counter or through a link if `place` says so. */
async function pay(target: { terminal_id?: unknown; payment_link_id?: unknown } = {}, data: object = {}) {
  const request = { amount: 10, network: 'qmoney', account_number: '7010004', ...data };
  const made = await world.api.post('/v1/payments', { data: request });
  assert.equal(made.status, 201, made.text);
  const { payment_intent_id: intentId } = made.body;
  for (const [column, id] of Object.entries(target)) {
    await asOwner(world.service, `UPDATE payment_intents SET ${column} = $1 WHERE id = $2`, [id, intentId]);
  }
  return (await world.api.get(`${path}/${String(intentId)}`)).body;
}

describe('the list of transactions', () => {
  it('filters by terminal, link or sub-account, together with other filters', async () => {
    const [till, market] = [await world.newTerminal(), await world.newTerminal()];
    const [fees, trip] = [await world.newLink(), await world.newLink()];
    const [awa, binta] = [await world.newSubAccount(), await world.newSubAccount()];
    const members = [{ sub_account: awa, percentage: 10 }];
    const group = (await world.api.post('/v1/sub-account-groups', { name: 'One', members })).body['id'];
    const plain = await pay();
    const atTill = await pay({ terminal_id: till['id'] });
    const again = await pay({ terminal_id: till['id'] }, { amount: 20 });
    const ofFees = await pay({ payment_link_id: fees['id'] }, { sub_account: awa });
    const shared = await pay({}, { sub_account_group: group });
    assert.deepEqual([atTill['terminal_id'], ofFees['payment_link_id']], [till['id'], fees['id']]);
    assert.deepEqual([plain['terminal_id'], plain['payment_link_id']], [null, null]);
    const expected: [string, Record<string, unknown>[]][] = [
      [`terminal_id=${String(till['id'])}`, [again, atTill]],
      [`terminal_id=${String(till['id'])}&limit=1&offset=1`, [atTill]],
      [`terminal_id=${String(till['id'])}&status=failed`, []],
      [`terminal_id=${String(till['id'])}&term=${String(atTill['reference'])}`, [atTill]],
      [`terminal_id=${String(market['id'])}`, []],
      [`payment_link=${String(fees['id'])}`, [ofFees]],
      [`payment_link=${String(trip['id'])}`, []],
      [`payment_link=${String(fees['id'])}&sub_account=${awa}`, [ofFees]],
      [`payment_link=${String(fees['id'])}&terminal_id=${String(till['id'])}`, []],
      [`sub_account=${awa}`, [shared, ofFees]],
      [`sub_account=${binta}`, []],
      [`sub_account=${unknownId}`, []],
    ];
    for (const [query, rows] of expected) {
      const { ids, meta } = await world.list(path, query);
      assert.deepEqual(
        ids,
        rows.map(({ id }) => id),
        query,
      );
      if (!query.includes('offset')) assert.equal(meta['total'], rows.length, query);
    }
    const stranger = world.clientOf((await world.service.onboard('Serekunda Shoes')).test);
    for (const query of [
      `terminal_id=${String(till['id'])}`,
      `payment_link=${String(fees['id'])}`,
      `sub_account=${awa}`,
    ]) {
      assert.deepEqual((await world.list(path, query, stranger)).ids, [], query);
    }
  });

  it('refuses a malformed id with the name of the parameter', async () => {
    for (const name of ['terminal_id', 'payment_link', 'sub_account']) {
      assert.equal(refusal(await world.api.get(`${path}?${name}=1234567`)), `400 invalid_request ${name}`);
    }
  });
});

describe('the summary of a virtual terminal', () => {
  it('covers today so far by default, and refuses an invalid range', async () => {
    const terminal = await world.newTerminal();
    const address = `/v1/virtual-terminals/${String(terminal['id'])}/summary`;
    const { body, status } = await world.api.get(address);
    const { from, to, ...rest } = body;
    assert.deepEqual(
      [status, rest],
      [
        200,
        {
          terminal_id: terminal['id'],
          currency: 'GMD',
          count: 0,
          sum: 0,
          amount_paid: 0,
          amount_refunded: 0,
          by_method: [],
          by_hour: [],
        },
      ],
    );
    assert.equal(String(from), `${String(to).slice(0, 10)}T00:00:00.000Z`);
    for (const [query, refused] of [
      ['from=yesterday', '400 invalid_request from'],
      ['to=2026-11-31', '400 invalid_request to'],
      ['from=2026-11-20T00:00:00Z&to=2026-11-19T00:00:00Z', '400 invalid_request from'],
      ['from=2024-11-20T00:00:00Z&to=2026-11-19T00:00:00Z', '400 invalid_request from'],
      ['limit=10', '400 unknown_field limit'],
    ] as const) {
      assert.equal(refusal(await world.api.get(`${address}?${query}`)), refused, query);
    }
  });
});
