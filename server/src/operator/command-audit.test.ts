import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openDashboardWorld, type DashboardWorld, type Member } from '../../../test/harness/dashboard-world.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { testKeys } from '../../../test/harness/service.ts';
import { asOwner } from '../../../test/harness/tables.ts';
import { ownActionText } from '../audit/action-words.ts';
import type { FieldChange } from '../audit/masked-fields.ts';
import { systemClock } from '../kit/clock.ts';
import { commands, runCommand } from './run-command.ts';

let world: DashboardWorld;
let owner: Member;
let directory: string;
const ids = { case: '', link: '' };

before(async () => {
  world = await openDashboardWorld();
  owner = await world.signIn('owner');
  directory = mkdtempSync(join(tmpdir(), 'dalasi-logo-'));
  const { body: link } = await world.api.post('/v1/payment-links', { data: { title: 'Ticket sale' } });
  ids.link = String(link['id']);
  ids.case = await openCase();
});
after(async () => {
  rmSync(directory, { recursive: true });
  await world.stop();
});

interface Entry {
  id: string;
  action: string;
  actor: string;
  business: string;
  mode: boolean | null;
  changes: FieldChange[];
}

const readEntries = (): Promise<Entry[]> =>
  asOwner(
    world.service,
    `SELECT id, action, actor_name AS actor, business_id AS business, test_mode AS mode, changes
       FROM audit_entries WHERE actor_type = 'operator' ORDER BY id`,
  );

/** Runs a command and returns what it prints for programs. */
async function run(words: readonly string[], more: Record<string, string> = {}): Promise<Record<string, unknown>> {
  const written = { stdout: '', stderr: '' };
  const code = await runCommand([...words, '--json'], {
    environment: {
      ...{ ...testKeys, APP_ENV: 'development', APP_DATABASE_URL: world.service.database.appUrl },
      // Without it, the tests would depend on how they were started.
      ...{ SUDO_USER: 'fatou', ...more },
    },
    stdout: { write: (text: string) => (written.stdout += text) },
    stderr: { write: (text: string) => (written.stderr += text) },
    clock: { now: () => systemClock.now(), sleep: () => Promise.resolve() },
  });
  assert.equal(code, 0, `${words.join(' ')}: ${written.stderr}`);
  return JSON.parse(written.stdout) as Record<string, unknown>;
}

interface Walked {
  words: string[];
  action: string;
  /** The entry of a command that works in several transactions, before the first of them. */
  begins?: string;
  /** What changed, as `field: value`. */
  changes: RegExp;
  environment?: Record<string, string>;
  /** The operator of the credential. */
  by?: string;
  /** Of the installation, or of both environments. */
  isWhole?: true;
  onResult?: (data: Record<string, unknown>) => void;
}

/** Commands that change nothing of this installation, or only how they print it. */
const changesNothing = [
  ...['businesses list', 'phone link', 'keys list', 'fees show', 'limits show', 'reserve show', 'rate-limits show'],
  ...['appearance show', 'operators list', 'cases list', 'cases show', 'ledger explain', 'receipts try'],
  ...['reconcile day', 'reconcile explain', 'reconcile list', 'networks list', 'networks test', 'pages verify'],
  ...['secrets show', 'backup list', 'backup restore', 'receipts list'],
];

/** The first takes a minute; the second changes the server that all tests share (process-start-failures.test.ts), and backups are of a
 * bundled one (process-backup.test.ts); a receipt needs a shop (test/stories/receipts.test.ts), an export a customer (customer-data.test.ts). */
const notHere = [
  'demo fill',
  'database prepare',
  'backup create',
  'backup drill',
  'cluster distribute',
  'cluster status',
  'receipts match',
  'customers export',
];

/** Each changing command, in an order in which each is possible. */
function* walk(): Generator<Walked> {
  const { merchant } = world.business.test;
  const of = ['--merchant', merchant.id];
  yield {
    words: ['businesses', 'create', 'Bakau Bikes'],
    action: 'businesses.create',
    changes: /name: Bakau/,
    isWhole: true,
  };
  let keyId = '';
  const noteId = ({ id }: Record<string, unknown>): void => void (keyId = String(id));
  yield { words: ['keys', 'create', ...of], action: 'keys.create', changes: /ends_with: \w{4}/, onResult: noteId };
  yield { words: ['keys', 'roll', keyId, ...of], action: 'keys.roll', changes: /ends_with: \w{4}/, onResult: noteId };
  yield { words: ['keys', 'revoke', keyId, ...of], action: 'keys.revoke', changes: /ends_with: \w{4}/ };
  const collecting = ['--for', 'collection'];
  const fees = ['fees', 'set', ...of, ...collecting, '--percent', '1.5', '--payer', 'customer'];
  yield { words: fees, action: 'fees.set', changes: /percent: 1.5.* payer: business > customer/ };
  yield { words: ['fees', 'clear', ...of, ...collecting], action: 'fees.set', changes: /default: true/ };
  const ofWave = ['fees', 'set', '--default', '--for', 'transfer', '--network', 'wave', '--fixed', '3'];
  yield { words: ofWave, action: 'transfer-fees.set', changes: /network: wave.* fixed: 3/, isWhole: true };
  yield { words: ['limits', 'set', ...of, '--largest', '500'], action: 'limits.set', changes: /largest: 500/ };
  yield { words: ['limits', 'clear', 'largest', ...of], action: 'limits.set', changes: /largest: 500.00 > / };
  const reserve = ['reserve', 'set', ...of, '--percent', '10', '--hours', '72'];
  yield { words: reserve, action: 'settlement.set', changes: /percent: 10 hours: 72/ };
  yield { words: ['reserve', 'clear', ...of], action: 'settlement.set', changes: /default: true/ };
  const weekly = ['settlement', 'schedule', 'weekly', ...of];
  yield { words: weekly, action: 'settlement.set', changes: /schedule: manual > weekly/ };
  const ran = { action: 'settlement.result', changes: /payouts: 0/ };
  yield { words: ['settlement', 'run', ...of], begins: 'settlement.run', ...ran };
  const rates = ['rate-limits', 'set', ...of, '--requests', '40'];
  yield { words: rates, action: 'rate-limits.set', changes: /requests: none > 40/ };
  yield { words: ['rate-limits', 'clear', 'requests', ...of], action: 'rate-limits.set', changes: /requests: 40 > / };
  const ofPage = ['rate-limits', 'set', ...of, '--link', ids.link, '--pages', '200'];
  yield { words: ofPage, action: 'page-rate-limits.set', changes: /pages: .*200/ };
  const look = ['appearance', 'set', ...of, '--colour', '#0b6a55', '--phone', '7001234'];
  yield { words: look, action: 'appearance.set', changes: /page_colour: #0b6a55 contact_phone: \.{4} 1234/ };
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const file = join(directory, 'logo.png');
  writeFileSync(file, Buffer.from(png, 'base64'));
  yield { words: ['logo', 'set', file, ...of], action: 'logo.set', changes: /logo: 1 × 1 pixels/ };
  yield { words: ['logo', 'remove', ...of], action: 'logo.remove', changes: /^$/ };
  const limited = ['receipts', 'limit', ...of, '--above', '1000'];
  yield { words: limited, action: 'receipts.limit', changes: /above: none > D1,000\.00/ };
  const { businessId } = merchant;
  yield { words: ['businesses', 'approve', businessId], action: 'businesses.approve', changes: /^$/, isWhole: true };
  yield* walkRailAccounts();
  yield* walkInstallation();
}

function* walkRailAccounts(): Generator<Walked> {
  const whole = { isWhole: true } as const;
  const key = ['--public-key', 'pk_live_example'];
  const address = ['--base-url', 'http://127.0.0.1:9'];
  const add = ['networks', 'add', '54pay', '--name', 'main', ...address, ...key];
  const named = /kind: 54pay name: main base_url: \S+ replaced: Public key/;
  yield { words: add, action: 'networks.add', changes: named, ...whole };
  const rotated = /replaced: Public key overlap_hours: 24/;
  yield { words: ['networks', 'rotate', 'main', ...key], action: 'networks.rotate', changes: rotated, ...whole };
  yield { words: ['networks', 'disable', 'main'], action: 'networks.disable', changes: /^$/, ...whole };
  yield { words: ['networks', 'enable', 'main'], action: 'networks.enable', changes: /^$/, ...whole };
  const placed = ['networks', 'order', 'main', '--order', '5'];
  yield { words: placed, action: 'networks.order', changes: /order: default > 5/, ...whole };
}

function* walkInstallation(): Generator<Walked> {
  const statement = join(directory, 'lines.csv');
  writeFileSync(statement, `transaction_id,timestamp,amount\nT-1,${systemClock.now().toISOString()},100.00\n`);
  const ofAccount = ['--network', 'wave-test'];
  const saved = ['reconcile', 'try', ...ofAccount, '--file', statement, '--save', 'usual'];
  yield { words: saved, action: 'reconciliation.save_mapping', changes: /mapping: usual/, isWhole: true };
  const imported = ['reconcile', 'import', ...ofAccount, '--file', statement];
  const importing = { begins: 'reconciliation.import', action: 'reconciliation.import_result' };
  yield { words: imported, ...importing, changes: /file: lines\.csv new: 1/, isWhole: true };
  const day = systemClock.now().toISOString().slice(0, 10);
  const reconciled = ['reconcile', 'run', ...ofAccount, '--day', day, '--closing-balance', '100'];
  yield { words: reconciled, action: 'reconciliation.run', changes: new RegExp(`day: ${day}`), isWhole: true };
  const operators: Record<string, unknown>[] = [];
  for (const name of ['Awa Ceesay', 'Lamin Jallow']) {
    const onResult = (data: Record<string, unknown>): void => void operators.push(data);
    const words = ['operators', 'create', name];
    yield { words, action: 'operators.create_credential', changes: /name: /, isWhole: true, onResult };
  }
  const as = (index: number) => ({
    environment: { OPERATOR_CREDENTIAL: String(operators[index]?.['credential']) },
    by: String(operators[index]?.['name']),
  });
  const caseId = ids.case;
  const way = ['--as', 'accept', '--evidence', 'APS confirms it.'];
  const changes = /resolution: accept/;
  yield { words: ['cases', 'resolve', caseId, ...way], action: 'cases.proposed', changes, ...as(0) };
  yield { words: ['cases', 'withdraw', caseId], action: 'cases.withdrawn', changes, ...as(0) };
  yield { words: ['cases', 'resolve', caseId, ...way], action: 'cases.proposed', changes, ...as(0) };
  yield { words: ['cases', 'confirm', caseId], action: 'cases.confirmed', changes, ...as(1) };
  const whole = { isWhole: true } as const;
  const ofOwner = ['--email', owner.account.email, '--evidence', 'Called the number on the contract.'];
  const lost = { action: 'logins.lost_factor', changes: /email: ••••@example\.gm evidence: Called/, ...as(0) };
  yield {
    words: ['logins', 'lost-factor', '--merchant', world.business.test.merchant.id, ...ofOwner],
    ...lost,
    ...whole,
  };
  const revoked = ['operators', 'revoke', String(operators[0]?.['id'])];
  yield { words: revoked, action: 'operators.revoke', changes: /^$/, ...whole };
  const login = ['logins', 'create', '--email', 'binta@example.gm', '--name', 'Binta', '--role', 'support'];
  yield { words: login, action: 'operators.invite', changes: /email: ••••@example\.gm.* role: support/, ...whole };
  yield { words: ['ledger', 'verify'], action: 'ledger.verify', changes: /is_correct: true/, ...whole };
  yield { words: ['chain', 'verify'], action: 'chain.verify', changes: /is_correct: true/, ...whole };
  yield { words: ['chain', 'head'], action: 'chain.head', changes: /digest: \w+/, ...whole };
  yield { words: ['restore', 'hold'], action: 'restore.hold', changes: /^$/, ...whole };
  const released = { action: 'restore.release', changes: /transfers: 0/, ...whole };
  yield { words: ['restore', 'release'], begins: 'restore.look_up', ...released };
  const accept = ['secrets', 'accept', 'KEY_PEPPER'];
  yield { words: accept, action: 'secrets.accept', changes: /setting: ••••|setting: KEY_PEPPER/, ...whole };
  const resealed = { action: 'secrets.reseal_result', changes: /values: 0/, ...whole };
  yield { words: ['secrets', 'reseal'], begins: 'secrets.reseal', ...resealed };
}

/** A payment for which the simulated network reports another amount. */
async function openCase(): Promise<string> {
  const { service, business, api } = world;
  await api.post('/v1/payments', { data: { amount: 100, network: 'aps', account_number: '7000010' } });
  let id: string | undefined;
  await eventually('the payment has a case', async () => {
    await service.app.drain();
    const rows = await asOwner<{ id: string }>(service, 'SELECT id FROM cases WHERE merchant_id = $1', [
      business.test.merchant.id,
    ]);
    id = rows[0]?.id;
    return id !== undefined;
  });
  return id ?? '';
}

const inWords = ({ field, before: earlier, after: later }: FieldChange): string =>
  `${field}: ${earlier === null || earlier === '' ? '' : `${earlier} > `}${later ?? ''}`;

test('every command that changes something leaves its audit entry, in words, with who ran it', async () => {
  const { businessId } = world.business.test.merchant;
  const walked = new Set<string>();
  for (const { words, begins, action, changes, environment, by, isWhole = false, onResult } of walk()) {
    const what = words.slice(0, 2).join(' ');
    const earlier = new Set((await readEntries()).map(({ id }) => id));
    const data = await run(words, environment);
    onResult?.(data);
    const entries = (await readEntries()).filter(({ id }) => !earlier.has(id));
    const actions = begins === undefined ? [action] : [begins, action];
    assert.deepEqual(
      entries.map((each) => each.action),
      actions,
      what,
    );
    for (const each of actions)
      assert.match(ownActionText(each), /^[A-Z][\w’-]*( [\w’-]+)+$/, 'the log has words for it');
    const entry = entries.at(-1) as Entry;
    assert.equal(entry.actor, by === undefined ? 'command line, fatou' : `${by} (command line, fatou)`, what);
    assert.match(entry.changes.map(inWords).join(' '), changes, what);
    if (!isWhole) assert.deepEqual([entry.business, entry.mode], [businessId, true], what);
    walked.add(what);
  }
  const all = commands.map(({ name }) => name);
  assert.deepEqual([...walked, ...changesNothing, ...notHere].toSorted(), all.toSorted(), 'each command');
});

test('a command that reads, or is refused, leaves no entry; the owners are mailed about a new key', async () => {
  const { merchant } = world.business.test;
  const earlier = await readEntries();
  await run(['keys', 'list', '--merchant', merchant.id]);
  await run(['fees', 'show', '--default']);
  const nobody = run(['logo', 'remove', '--merchant', merchant.id]);
  await assert.rejects(nobody, /has no logo/);
  assert.deepEqual(await readEntries(), earlier);
  await run(['keys', 'create', '--merchant', merchant.id], { SUDO_USER: '' });
  assert.equal((await readEntries()).at(-1)?.actor, `command line, ${userInfo().username}`);
  const mails = await asOwner<{ subject: string }>(
    world.service,
    'SELECT subject FROM mails WHERE recipient = $1 ORDER BY id',
    [owner.account.email],
  );
  assert.equal(mails.at(-1)?.subject, 'Kairaba Books: New test API key');
});

test('revoking a person’s credential names their login, which goes on, and the list says which is which', async () => {
  const name = 'Isatou Sarr';
  const { id } = await run(['operators', 'create', name]);
  const login = ['--email', 'isatou@example.gm', '--name', name, '--role', 'finance'];
  const { operator_id: loginId } = await run(['logins', 'create', ...login]);
  const listed = (await run(['operators', 'list'])) as unknown as { id: string; role: string | null }[];
  const roleOf = (operatorId: unknown) => listed.find((each) => each.id === operatorId)?.role;
  assert.deepEqual([roleOf(id), roleOf(loginId)], [null, 'finance']);
  assert.deepEqual((await run(['operators', 'revoke', String(id)]))['same_name'], [loginId]);
  assert.deepEqual((await run(['operators', 'revoke', String(loginId)]))['same_name'], []);
});

test('backups of a server that is not bundled are refused with what its own tools do', async () => {
  for (const words of [
    ['backup', 'create'],
    ['backup', 'drill'],
    ['backup', 'restore', '--to', directory],
  ]) {
    await assert.rejects(run(words), /your own PostgreSQL[^]*pg_basebackup[^]*pgBackRest[^]*restore hold/);
  }
});
