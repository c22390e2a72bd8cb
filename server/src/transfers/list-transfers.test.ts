import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiClient } from '../../../test/harness/api-client.ts';
import { asOwner } from '../../../test/harness/tables.ts';
import { accepted, refusal, startTransferApi, type TransferApi } from './transfer-api.corpus.ts';

let world: TransferApi;

before(async () => {
  world = await startTransferApi();
});
after(() => world.close());

const minuteMs = 60_000;

describe('GET /v1/transfers', () => {
  interface Page {
    ids: string[];
    rows: Record<string, unknown>[];
    meta: { total: number; total_is_capped?: boolean; limit: number; offset: number; next_cursor: string | null };
  }

  const list = async (api: ApiClient, query = ''): Promise<Page> => {
    const response = await api.get(`/v1/transfers?${query}`);
    assert.equal(response.status, 200, response.text);
    const rows = response.body['data'] as Record<string, unknown>[];
    return { rows, ids: rows.map((row) => String(row['id'])), meta: response.body['meta'] as Page['meta'] };
  };

  const times = async (api: ApiClient, count: number): Promise<string[]> => {
    const made: string[] = [];
    for (let time = 1; time <= count; time += 1) made.unshift(await accepted(api));
    return made;
  };

  it('pages newest first, by offset and by cursor, every transfer once', async () => {
    const { api } = await world.newShop();
    const made = await times(api, 23);
    const first = await list(api);
    assert.deepEqual(first.ids, made.slice(0, 10));
    assert.deepEqual(first.meta, { total: 23, limit: 10, offset: 0, next_cursor: made[9] });
    const last = await list(api, 'limit=10&offset=20');
    assert.deepEqual([last.ids, last.meta.offset, last.meta.next_cursor], [made.slice(20), 20, null]);
    const walked: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Page = await list(api, `limit=7${cursor === '' ? '' : `&cursor=${cursor}`}`);
      walked.push(...page.ids);
      // New transfers do not shift the rows of the next page.
      if (walked.length === 7) await accepted(api);
      cursor = page.meta.next_cursor;
    }
    assert.deepEqual(walked, made);
  });

  it('refuses an invalid or unknown parameter by its name', async () => {
    const { api } = await world.newShop();
    const queries =
      'limit=0 limit=101 limit=abc limit= offset=-1 offset=10001 cursor=abc status=paid status=successful';
    const more = 'from=yesterday from=2026-11-31 to=2026-02-30T00:00:00Z term=%00 nonsense=1 network=aps';
    for (const query of `${queries} ${more}`.split(' ')) {
      const response = await api.get(`/v1/transfers?${query}`);
      assert.equal(refusal(response).split(' ')[2], query.split('=')[0], `${query} answers ${response.text}`);
      assert.equal(response.status, 400);
    }
  });

  it('filters by status', async () => {
    const { api } = await world.newShop();
    const ids = await times(api, 5);
    const statuses = ['pending', 'completed', 'failed', 'cancelled', 'reversed'];
    for (const [index, status] of statuses.entries()) {
      await asOwner(world.service, 'UPDATE transfers SET status = $1 WHERE id = $2', [status, ids[index]]);
    }
    for (const [index, status] of statuses.entries()) {
      const { ids: found, meta } = await list(api, `status=${status}`);
      assert.deepEqual([found, meta.total], [[ids[index]], 1], status);
    }
    assert.deepEqual((await list(api)).ids, ids);
  });

  it('filters by time, both ends included, in any zone', async () => {
    const { api } = await world.newShop();
    const start = world.clock.now();
    const made: string[] = [];
    for (let minute = 0; minute < 4; minute += 1) {
      made.unshift(await accepted(api));
      await world.clock.advance(minuteMs);
    }
    const at = (minute: number, ms = 0) => new Date(start.getTime() + minute * minuteMs + ms).toISOString();
    assert.deepEqual((await list(api, `from=${at(2)}`)).ids, made.slice(0, 2));
    assert.deepEqual((await list(api, `from=${at(2, 1)}`)).ids, made.slice(0, 1));
    assert.deepEqual((await list(api, `to=${at(1)}`)).ids, made.slice(2));
    assert.deepEqual((await list(api, `to=${at(1, -1)}`)).ids, made.slice(3));
    assert.deepEqual((await list(api, `from=${at(1)}&to=${at(2)}&status=pending`)).ids, made.slice(1, 3));
    assert.deepEqual((await list(api, `from=${at(1)}&to=${at(2)}&status=failed`)).ids, []);
    const zoned = `${new Date(start.getTime() + 2 * minuteMs + 3_600_000).toISOString().slice(0, -1)}%2B01:00`;
    assert.deepEqual((await list(api, `from=${zoned}`)).ids, made.slice(0, 2));
  });

  it('finds a term literally in any text that names the transfer or its beneficiary', async () => {
    const { api } = await world.newShop();
    const find = async (term: string) => (await list(api, `term=${encodeURIComponent(term)}`)).ids;
    const wages = await accepted(api, { beneficiary_name: 'Awa 100% Ceesay', narration: 'Two_of_them' });
    const rent = await accepted(api, { beneficiary_name: 'Lamin \\ Jobe', account_number: '+220 301 9876' });
    const { body } = await api.get(`/v1/transfers/${rent}`);
    const hits: [string, string[]][] = [
      ['100%', [wages]],
      ['%', [wages]],
      ['_', [wages]],
      ['\\', [rent]],
      ['awa', [wages]],
      ['LAMIN', [rent]],
      ['two_of', [wages]],
      ['301 98', [rent]],
      ['773019876', []],
      [String(body['reference']).slice(4), [rent]],
      [wages.slice(-12), [wages]],
      ["' OR true --", []],
    ];
    for (const [term, ids] of hits) assert.deepEqual(await find(term), ids, term);
    assert.deepEqual((await list(api, 'search=awa')).ids, [wages]);
    for (const query of ['term=', 'term=%20', '']) assert.deepEqual((await list(api, query)).ids, [rent, wages], query);
  });

  it('finds a number in every form, old and new', async () => {
    const { api } = await world.newShop();
    const find = async (term: string) => (await list(api, `term=${encodeURIComponent(term)}`)).ids;
    const old = await accepted(api, { account_number: '301 98-76' });
    const renewed = await accepted(api, { account_number: '833019877' });
    for (const number of ['3019876', '833019876']) {
      for (const before of ['', '220', '+220', '00220 ']) {
        assert.deepEqual(await find(`${before}${number}`), [old], `${before}${number}`);
      }
    }
    for (const number of ['+220 301-9877', '833 019 877']) assert.deepEqual(await find(number), [renewed], number);
  });

  it('shows only the last four digits of a number; the record by id shows it as it was sent', async () => {
    const { api } = await world.newShop();
    const id = await accepted(api, { account_number: '+220 301 9876' });
    const { rows } = await list(api);
    assert.equal(rows[0]?.['account_number'], '.... 9876');
    assert.equal((await api.get(`/v1/transfers/${id}`)).body['account_number'], '+220 301 9876');
  });

  it('counts exactly up to 10,000 and marks a larger total as capped', async () => {
    const { api, merchant } = await world.newShop();
    const id = await accepted(api);
    const multiply = (from: number, to: number) =>
      asOwner(
        world.service,
        `INSERT INTO transfers SELECT copied.* FROM transfers AS original, generate_series($3::integer, $4) AS place,
           LATERAL jsonb_populate_record(original, jsonb_build_object(
             'id', '01a00000-0000-7000-8000-' || lpad(place::text, 12, '0'), 'reference', place::text)) AS copied
         WHERE original.merchant_id = $1 AND original.id = $2`,
        [merchant.id, id, from, to],
      );
    await multiply(1, 9_999);
    const { meta } = await list(api, 'status=pending');
    assert.deepEqual([meta.total, meta.total_is_capped], [10_000, undefined]);
    await multiply(10_000, 10_000);
    for (const query of ['', 'status=pending', 'term=ceesay']) {
      const { meta: capped } = await list(api, query);
      assert.deepEqual([capped.total, capped.total_is_capped], [10_000, true], query);
    }
  });
});
