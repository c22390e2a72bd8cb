import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createApiClient } from '../harness/api-client.ts';
import { readDemo, readyAt, type Program } from '../harness/program.ts';
import { jsonOf, ServiceWorld } from '../harness/service-world.ts';
import { eventually } from '../harness/eventually.ts';

let world: ServiceWorld;
let dataDirectory: string;
let service: Program;
let api: ReturnType<typeof createApiClient>;
let awa: NewOperator;
let lamin: NewOperator;

interface NewOperator {
  id: string;
  name: string;
  credential: string;
}

interface ShownCase {
  id: string;
  kind: string;
  status: string;
  resolution: string | null;
  subject: string;
  resolutions: { resolution: string; possible: boolean }[];
  history: { step: string; resolution: string; evidence: string | null; operator: string }[];
}

const evidence = 'APS confirms it, ticket 4711 of 20 November.';

before(async () => {
  world = new ServiceWorld();
  dataDirectory = await world.usedDataDirectory();
  service = world.startServiceInProcess({ DATA_DIR: dataDirectory });
  const url = await readyAt(service);
  api = createApiClient(url, readDemo(dataDirectory).secret_key);
  awa = await runJson(null, 'operators', 'create', 'Awa Ceesay');
  lamin = await runJson(null, 'operators', 'create', 'Lamin Jallow');
});

after(() => world.close());

const settingsOf = (operator: NewOperator | null) => ({
  DATA_DIR: dataDirectory,
  ...(operator && { OPERATOR_CREDENTIAL: operator.credential }),
});

const run = (operator: NewOperator | null, ...args: string[]) => world.runOperatorInProcess(settingsOf(operator), args);

async function runJson<Data>(operator: NewOperator | null, ...args: string[]): Promise<Data> {
  return jsonOf<Data>(await run(operator, ...args, '--json'));
}

async function refuses(operator: NewOperator | null, args: readonly string[], sentence: RegExp): Promise<void> {
  const { code, stdout, stderr } = await run(operator, ...args);
  assert.deepEqual([code, stdout], [2, ''], stderr);
  assert.match(stderr, sentence);
  assert.doesNotMatch(stderr, /\n./, 'no stack');
}

const show = (id: string): Promise<ShownCase> => runJson(null, 'cases', 'show', id);

/** A payment of 100 for which the simulated network reports 101. */
async function openMismatch(): Promise<ShownCase> {
  const data = { amount: 100, network: 'aps', account_number: '7000010' };
  const { status, text, body } = await api.post('/v1/payments', { data });
  assert.equal(status, 201, text);
  let chargeId = '';
  await eventually('the payment is under review', async () => {
    const charge = await api.get(`/v1/transactions/${String(body['payment_intent_id'])}`);
    assert.equal(charge.status, 200, charge.text);
    chargeId = String(charge.body['id']);
    return charge.body['review'] === 'amount_mismatch';
  });
  const cases = await runJson<ShownCase[]>(null, 'cases', 'list');
  return show(cases.find(({ subject }) => subject === `charge ${chargeId}`)?.id ?? '');
}

test('two operators resolve a case; the merchant and the ledger see the resolution', async () => {
  const found = await openMismatch();
  assert.deepEqual(
    found.resolutions.map(({ resolution, possible }) => [resolution, possible]),
    [
      ['accept', true],
      ['return', true],
    ],
  );
  const resolve = ['cases', 'resolve', found.id, '--as', 'accept', '--evidence', evidence];
  await runJson(awa, ...resolve);
  await refuses(
    awa,
    ['cases', 'confirm', found.id],
    /^You proposed this yourself\. Another operator has to confirm it/,
  );
  const listed = await run(null, 'cases', 'list');
  assert.match(listed.stdout, new RegExp(`${found.id}.* proposed +`));
  await runJson(lamin, 'cases', 'withdraw', found.id);
  await refuses(lamin, ['cases', 'confirm', found.id], /^No resolution is proposed for this case\.\n$/);
  const { stdout: shownText } = await run(null, 'cases', 'show', found.id);
  assert.match(shownText, /^transaction_id  \S/m, 'names and values stand apart');
  assert.match(shownText, /^amount +GMD \d+\.\d\d$/m, 'the amount is written as in the list');
  assert.doesNotMatch(shownText, /^proposal_id/m, 'what is not there has no line');
  const proposed = await run(lamin, ...resolve);
  assert.ok(proposed.stdout.includes(`confirms it with: npm run operator -- cases confirm ${found.id}\n`));
  const confirmed = await run(awa, 'cases', 'confirm', found.id);
  assert.deepEqual(confirmed, { code: 0, stdout: `Case ${found.id} is resolved: accept.\n`, stderr: '' });

  const resolved = await show(found.id);
  assert.deepEqual([resolved.status, resolved.resolution, resolved.resolutions], ['resolved', 'accept', []]);
  assert.deepEqual(
    resolved.history.map(({ step, operator }) => [step, operator]),
    [
      ['proposed', 'Awa Ceesay'],
      ['withdrawn', 'Lamin Jallow'],
      ['proposed', 'Lamin Jallow'],
      ['confirmed', 'Awa Ceesay'],
    ],
  );
  const transaction = await api.get(`/v1/transactions/${found.subject.replace('charge ', '')}`);
  const { status, amount_paid: amountPaid, review } = transaction.body;
  assert.deepEqual([status, amountPaid, review], ['completed', 101, null]);
  assert.equal((await run(null, 'ledger', 'verify')).code, 0);
});

test('of two concurrent confirmations on separate connections one takes effect', async () => {
  const found = await openMismatch();
  const binta = await runJson<NewOperator>(null, 'operators', 'create', 'Binta Sowe');
  await runJson(awa, 'cases', 'resolve', found.id, '--as', 'return', '--evidence', evidence);
  const outputs = await Promise.all([lamin, binta].map((operator) => run(operator, 'cases', 'confirm', found.id)));
  assert.deepEqual(outputs.map(({ code }) => code).toSorted(), [0, 2], JSON.stringify(outputs));
  assert.deepEqual(
    (await show(found.id)).history.map(({ step }) => step),
    ['proposed', 'confirmed'],
  );
  assert.equal((await run(null, 'ledger', 'verify')).code, 0);
});

test('resolving a case needs an active operator credential', async () => {
  const found = await openMismatch();
  const args = ['cases', 'resolve', found.id, '--as', 'accept', '--evidence', evidence];
  await refuses(
    null,
    args,
    /^Set OPERATOR_CREDENTIAL to your operator credential\. To create one: operators create <name>\n$/,
  );
  const mistyped = { ...awa, credential: `${awa.credential.slice(0, -1)}_` };
  await refuses(mistyped, args, /^OPERATOR_CREDENTIAL is mistyped: /);
  const leaver = await runJson<NewOperator>(null, 'operators', 'create', 'Ebrima Touray');
  await runJson(leaver, ...args);
  await runJson(null, 'operators', 'revoke', leaver.id);
  await refuses(
    leaver,
    ['cases', 'withdraw', found.id],
    /^OPERATOR_CREDENTIAL belongs to an operator who has been revoked\.\n$/,
  );
  await refuses(awa, ['cases', 'confirm', found.id], /^The operator who proposed this has been revoked/);
  const listed = await run(null, 'operators', 'list');
  assert.match(listed.stdout, /^OPERATOR .*\n[^]*no +commands only +Awa Ceesay\n/);
  assert.doesNotMatch(listed.stdout, /op_/);
});

test('an incomplete proposal is refused with a message of one sentence', async () => {
  const found = await openMismatch();
  const resolve = (...args: string[]) => ['cases', 'resolve', found.id, ...args];
  await refuses(awa, resolve('--as', 'accept', '--evidence', 'yes'), /^Send evidence of 10 to 2000 characters/);
  await refuses(awa, resolve('--as', 'burn', '--evidence', evidence), / as accept or return\.\n$/);
  const money = ['--as', 'accept', '--evidence', evidence, '--transaction', 'T1'];
  await refuses(awa, resolve(...money), /^Give both --transaction/);
  for (const amount of ['1e3', '10.005', '99999999999999999999']) {
    await refuses(awa, resolve(...money, '--amount', amount), /^--amount is an amount in dalasi/);
  }
  await refuses(awa, resolve(...money, '--amount', '0'), /^--amount is the amount that the network reports as paid/);
  await refuses(awa, resolve(...money, '--amount', '101'), /leave out transaction/);
});

test('the running service logged no error meanwhile', async () => {
  assert.equal(service.stderr(), '');
  service.stop();
  assert.deepEqual(await service.ended, { code: 0, signal: null });
});
