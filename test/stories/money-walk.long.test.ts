import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { listCases } from '../../server/src/cases/list-cases.ts';
import { confirmResolution, proposeResolution } from '../../server/src/cases/resolve-case.ts';
import { readConfig } from '../../server/src/configuration/config.ts';
import { createServiceLog } from '../../server/src/api/service-log.ts';
import { seededRandom, systemRandom } from '../../server/src/kit/random.ts';
import type { Account } from '../../server/src/ledger/accounts.ts';
import { openCaseWork, type CaseWork } from '../../server/src/operator/case-work.ts';
import { createOperator } from '../../server/src/operators/manage-operators.ts';
import type { ApiResponse } from '../harness/api-client.ts';
import { testKeys } from '../harness/service.ts';
import { asOwner } from '../harness/tables.ts';
import { startTransferStory, type TransferStory } from '../harness/transfer-story.ts';

// Random concurrent operations through the API and the simulated networks: collect, split, refund, fail, reverse,
// approve late, cancel, delete, pay out. Afterwards the networks' balances equal the ledger's, to the butut.

const operations = 2_652;
const concurrencyMax = 8;
const networks = ['wave', 'afrimoney', 'qmoney', 'aps'] as const;
// Without numbers that delay a response by seconds: the clock does not move while calls are under way.
const payers = [
  '7000001',
  '7000001',
  '7000002',
  '7000003',
  '7000007',
  '7000010',
  '7000012',
  '7001234',
  '7001234',
  '7001234',
];
const beneficiaries = ['7000001', '7000002', '7000003', '7000007', '7000009', '7000011', '7000012', '7001234'];
const secondMs = 1_000;

let story: TransferStory;
let random: ReturnType<typeof seededRandom>;
let operators: CaseWork & { ids: string[] };

before(async () => {
  story = await startTransferStory({ settings: { LOG_LEVEL: 'error' } });
  const seed = Buffer.from(systemRandom.bytes(6)).toString('hex');
  console.log(`seed ${seed}`);
  random = seededRandom(seed);
  operators = await hireOperators();
  await spendTestMoney();
});

after(async () => {
  await operators.close();
  await story.stop();
});

async function hireOperators(): Promise<typeof operators> {
  const { db, clock, secrets } = story.service;
  const config = readConfig({ ...testKeys, APP_ENV: 'development' });
  const log = createServiceLog({ level: 'error' });
  const work = await openCaseWork({ config, secrets, db, clock, random: systemRandom, log });
  const context = { clock, random: systemRandom, newId: work.context.newId, pepper: secrets.pepper };
  const hired = [await createOperator(db, context, 'Awa'), await createOperator(db, context, 'Lamin')];
  return { ...work, ids: hired.map(({ operator }) => operator.id) };
}

/** Money that a network reverses while it is in `suspense` leaves the float once two operators have acknowledged it. */
async function acknowledgeReversals(): Promise<void> {
  const [proposer = '', confirmer = ''] = operators.ids;
  const open = await listCases(story.service.db, 'open', 10_000, null);
  for (const { id: caseId } of open.filter(({ kind }) => kind === 'network_reversal')) {
    const evidence = 'The statement of the network names the reversal.';
    const proposal = { caseId, resolution: 'acknowledge', evidence, reported: null };
    await proposeResolution(operators.context, { ...proposal, operatorId: proposer });
    await confirmResolution(operators.context, { caseId, operatorId: confirmer });
    seen.set('acknowledge done', (seen.get('acknowledge done') ?? 0) + 1);
  }
}

function below(count: number): number {
  return Buffer.from(random.bytes(4)).readUInt32BE() % count;
}

function pick<Item>(items: readonly Item[]): Item | undefined {
  return items[below(Math.max(items.length, 1))];
}

function amount(most: number): number {
  return (100 + below(most * 100 - 100)) / 100;
}

/** Leaves only collected money to spend. */
async function spendTestMoney(): Promise<void> {
  for (;;) {
    const left = await story.payoutBalance();
    if (left === 0) return;
    await story.transferSettled('7000001', { amount: Math.min(left, 100_000) });
  }
}

const known = { intents: [] as string[], charges: [] as string[], subs: [] as string[] };
const seen = new Map<string, number>();

/** The allowed refusals of concurrent requests for the same money; any other is a failure. */
function record(what: string, { status, body, text }: ApiResponse): ApiResponse {
  const outcome = status < 300 ? 'done' : String(body['code']);
  assert.ok(status < 300 || status === 400 || status === 404 || status === 409, `${what}: ${text}`);
  seen.set(`${what} ${outcome}`, (seen.get(`${what} ${outcome}`) ?? 0) + 1);
  return { status, body, text } as ApiResponse;
}

const actions: Record<string, () => Promise<void>> = {
  async collect() {
    const sub = below(2) === 0 ? pick(known.subs) : undefined;
    const data = {
      amount: amount(400),
      network: pick(networks),
      account_number: pick(payers),
      ...(sub === undefined ? {} : { sub_account: sub }),
    };
    const { status, body } = record('collect', await story.api.post('/v1/payments', { data }));
    if (status === 201) known.intents.push(String(body['payment_intent_id']));
  },
  async phone() {
    const id = pick(known.intents);
    if (id === undefined) return;
    const action = pick(['approve', 'approve', 'decline', 'approve_late', 'reverse'] as const) ?? 'approve';
    seen.set(`phone ${action}`, (seen.get(`phone ${action}`) ?? 0) + Number(await onPhone(id, action)));
  },
  async cancel() {
    const id = pick(known.intents);
    if (id !== undefined) record('cancel', await story.api.post(`/v1/payments/${id}/cancel`, {}));
  },
  async refund() {
    const id = pick(known.intents);
    if (id === undefined) return;
    const charge = await story.api.get(`/v1/transactions/${id}`);
    if (charge.status !== 200 || charge.body['status'] !== 'completed') return;
    const part = below(2) === 0 ? {} : { amount: amount(100) };
    const request = { reference: charge.body['reference'], ...part };
    record('refund', await story.api.post('/v1/transactions/refund', request, { 'idempotency-key': randomUUID() }));
  },
  async transfer() {
    const body = { amount: amount(600), network: pick(networks) };
    record('transfer', await story.request(pick(beneficiaries) ?? '', body));
  },
  async pay_out() {
    const id = pick(known.subs);
    if (id === undefined) return;
    const headers = { 'idempotency-key': randomUUID() };
    record('pay_out', await story.api.post(`/v1/sub-accounts/${id}/payouts`, {}, headers));
  },
  async new_sub() {
    const account_number = pick(beneficiaries);
    const body = { name: 'Awa', percentage: 1 + below(60), settlement_code: pick(networks), account_number };
    const response = record('new_sub', await story.api.post('/v1/sub-accounts', body));
    known.subs.push(String(response.body['id']));
  },
  async delete() {
    const id = pick(known.subs);
    if (id === undefined) return;
    const { status } = record('delete', await story.api.send('DELETE', `/v1/sub-accounts/${id}`));
    if (status < 300) known.subs.splice(known.subs.indexOf(id), 1);
  },
};

const weighted = Object.entries({
  collect: 8,
  phone: 7,
  cancel: 1,
  refund: 4,
  transfer: 4,
  pay_out: 2,
  new_sub: 1,
  delete: 1,
}).flatMap(([name, weight]) => Array.from({ length: weight }, () => name));

async function runRandomAction(): Promise<void> {
  await actions[pick(weighted) ?? '']?.();
}

/** Whether the phone offered it; a concurrent change may have removed the prompt. */
async function onPhone(id: string, action: Parameters<TransferStory['onPhone']>[1]): Promise<boolean> {
  try {
    await story.onPhone(id, action);
    return true;
  } catch (error) {
    if (error instanceof assert.AssertionError) return false;
    throw error;
  }
}

/** Which networks a rail account of the test environment collects from, and which it pays out to. */
const railAccounts = {
  'wave-test': { collects: ['wave'], paysOut: ['wave'] },
  '54pay-test': { collects: ['afrimoney', 'qmoney'], paysOut: [] },
  'gsma-test': { collects: ['aps'], paysOut: ['afrimoney', 'qmoney', 'aps'] },
};

/** Our balance in a rail account, by the networks' own books. */
async function networksHold({ collects, paysOut }: { collects: string[]; paysOut: string[] }): Promise<bigint> {
  const text = `SELECT COALESCE((SELECT sum(amount_paid) FROM simulator.sessions WHERE network = ANY ($1)
      AND CASE WHEN planned_at <= $3 THEN planned_status ELSE status END = 'complete'), 0)
    - COALESCE((SELECT sum(amount) FROM simulator.payouts WHERE network = ANY ($2)
      AND CASE WHEN planned_at <= $3 THEN planned_status ELSE status END = 'completed'), 0) AS holds`;
  const [row] = await asOwner<{ holds: string }>(story.service, text, [collects, paysOut, story.clock.now()]);
  return BigInt(row?.holds ?? '0');
}

async function settleAll(): Promise<void> {
  for (let time = 0; time < 6; time += 1) await story.advance(31 * secondMs);
  await acknowledgeReversals();
  // Once more, for the chore that repays debts from the last payments.
  await story.settle();
}

async function compare(): Promise<void> {
  await story.verify();
  for (const [railAccount, networksOfIt] of Object.entries(railAccounts)) {
    const float: Account = `float:${railAccount}`;
    assert.equal(
      await story.balance(float),
      await networksHold(networksOfIt),
      `${railAccount} holds what the ledger says`,
    );
  }
  const [owed, available, pending] = await Promise.all(
    (['receivable_merchant', 'payable_available', 'payable_pending'] as const).map((account) => story.balance(account)),
  );
  if (owed !== 0n) assert.deepEqual([available, pending], [0n, 0n], 'nobody has money while owing it');
}

test(`after ${operations} random operations the ledger balances and matches each network’s books`, async () => {
  for (let done = 0; done < operations;) {
    const count = Math.min(1 + below(concurrencyMax), operations - done);
    await Promise.all(Array.from({ length: count }, runRandomAction));
    done += count;
    await story.advance(below(4) * secondMs);
    if (done % 300 < count) {
      await settleAll();
      await compare();
    }
  }
  await settleAll();
  await compare();
  const expected = [
    'collect done',
    'refund done',
    'transfer done',
    'transfer merchant_owes',
    'pay_out done',
    'phone reverse',
    'acknowledge done',
    'delete done',
    'cancel done',
  ];
  for (const what of expected)
    assert.ok((seen.get(what) ?? 0) > 0, `the walk never met ${what}: ${JSON.stringify([...seen])}`);
});
