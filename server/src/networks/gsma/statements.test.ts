import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { ManualClock } from '../../../../test/harness/manual-clock.ts';
import type { StatementPage } from '../statement.ts';
import { ScriptedServer, type ScriptedReply } from '../scripted-server.corpus.ts';
import { readGsmaConfiguration } from './configuration.ts';
import { createGsmaConnectors, type GsmaConnector } from './connector.ts';
import { gsmaSettings } from './gsma-settings.corpus.ts';

const server = new ScriptedServer();
let aps: GsmaConnector;

before(async () => {
  const url = await server.start();
  const [connector] = createGsmaConnectors({
    baseUrl: () => url,
    ...{ clock: new ManualClock(), callTimeoutMs: 3_000, railAccount: 'gsma-test', testMode: true, merchantId: null },
    breakerScope: 'network',
    configuration: readGsmaConfiguration(gsmaSettings),
    credentialsFor: () => ({
      apiKey: 'key',
      clientId: null,
      userBearer: null,
      userCredential1: null,
      userCredential2: null,
    }),
  });
  assert.ok(connector);
  aps = connector;
});

beforeEach(() => server.reset());

after(async () => {
  await aps.close();
  server.close();
});

const lines = () => server.received.map((received) => received.line);
const entry = (more: Record<string, unknown> = {}) => ({
  ...{ transactionReference: 'S1', transactionStatus: 'completed', amount: '450.50', currency: 'GMD' },
  ...{ creditParty: [{ key: 'accountid', value: '2999' }], debitParty: [{ key: 'msisdn', value: '+2207000001' }] },
  ...{ creationDate: '2026-11-19T10:00:00Z', ...more },
});

test('a day of the statement is read page by page, and entries that are not understood are refused', async () => {
  const first = Array.from({ length: 49 }, (_, index) => entry({ transactionReference: `S${index}` }));
  const paid = {
    creditParty: [{ key: 'msisdn', value: '+2207000002' }],
    debitParty: [{ key: 'accountid', value: '2999' }],
  };
  server.replies = [
    [200, [...first, entry({ ...paid, transactionReference: 'P1', amount: '20' })]],
    [200, [entry({ transactionStatus: 'odd' }), entry({ amount: '-5' }), entry({ creditParty: [] }), 7]],
  ];
  const page = await aps.statements?.read({ day: '2026-11-19', cursor: null });
  assert.ok(page?.state === 'page');
  assert.deepEqual([page.lines.length, page.refusals.length, page.nextCursor], [50, 0, '50']);
  const { kind, netMinor, counterpartyNumber } = page.lines.at(-1) ?? {};
  assert.deepEqual([kind, netMinor, counterpartyNumber], ['payout', -2_000n, '+2207000002']);
  assert.match(
    lines()[0] ?? '',
    /^GET \/accounts\/accountid\/2999\/statemententries\?limit=50&offset=0&fromDateTime=2026-11-19/,
  );
  const last = await aps.statements?.read({ day: '2026-11-19', cursor: page.nextCursor });
  assert.ok(last?.state === 'page');
  assert.deepEqual([last.lines.length, last.refusals.length], [0, 4]);
  server.replies = [[200, [...first, entry()]], 'close'];
  const late = await aps.statements?.read({ day: '2026-11-19', cursor: '249950' });
  assert.ok(late?.state === 'page' && late.nextCursor === '250000', 'a long day does not end before its last page');
  assert.equal((await aps.statements?.read({ day: '2026-11-19', cursor: null }))?.state, 'unknown');
});

test('a page that is shorter than the API’s limit is followed by what comes after it, until nothing does', async () => {
  const page = (...names: string[]): ScriptedReply => [200, names.map((name) => entry({ transactionReference: name }))];
  /** The transactions of a day, as a provider returns its pages; or why it was not read. */
  const dayOf = async (...replies: ScriptedReply[]): Promise<string> => {
    server.replies = replies;
    const names: string[] = [];
    let cursor: string | null = null;
    do {
      const read: StatementPage | undefined = await aps.statements?.read({ day: '2026-11-19', cursor });
      if (read?.state !== 'page') return 'unknown';
      names.push(...read.lines.map(({ transactionId }) => transactionId));
      cursor = read.nextCursor;
    } while (cursor !== null);
    return names.join(' ');
  };
  assert.equal(await dayOf(page('A', 'B'), page('C'), page()), 'A B C', 'pages capped at two');
  assert.match(lines().at(-1) ?? '', /offset=3&/);
  assert.equal(await dayOf(page('A', 'B'), page('A', 'B')), 'A B', 'the offset is ignored');
  assert.equal(await dayOf(page('A', 'B'), page('B', 'A')), 'A B', 'and so is the order');
  assert.equal(await dayOf(page('A', 'B'), page('C'), page('C')), 'A B C', 'the last page stays the last');
  const fee = entry({ transactionReference: 'A', amount: '1', type: 'fee' });
  const feeFollows: ScriptedReply = [200, [entry({ transactionReference: 'C' }), fee]];
  assert.equal(
    await dayOf(page('A', 'B'), feeFollows, page()),
    'A B C A',
    'a fee has the reference of its transaction',
  );
  for (const status of [400, 404, 416]) assert.equal(await dayOf(page('A'), [status, {}]), 'A', String(status));
  assert.equal(await dayOf([404, {}]), 'unknown', 'nothing has been read yet');
  assert.equal(await dayOf(page('A'), [503, {}]), 'unknown');
  assert.equal(await dayOf(page('A'), 'close'), 'unknown');
});
