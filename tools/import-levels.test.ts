import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { describeViolations, cruiseImports, type ImportLevels } from './import-levels.ts';

const repository = join(import.meta.dirname, '..');

/** Each file with its one import, and the rule that refuses it. */
const refused: [rule: string, file: string, imported: string][] = [
  ['imports-go-down-from-kit', 'server/src/kit/up.ts', '../payments/payment.ts'],
  ['imports-go-down-from-kit', 'server/src/kit/settings.ts', '../configuration/config.ts'],
  ['imports-go-down-from-kit', 'server/src/kit/database-user.ts', '../database/migrate.ts'],
  ['imports-go-down-from-kit', 'server/src/kit/refusal.ts', '../api/app-error.ts'],
  ['strangers-api-database-languages', 'server/src/database/refusal.ts', '../api/app-error.ts'],
  ['imports-go-down-from-payments-transfers-debts', 'server/src/payments/up.ts', '../http/server.ts'],
  ['imports-go-down-from-http-worker-pages', 'server/src/worker/up.ts', '../app/app.ts'],
  [
    'strangers-ledger-events-networks-keyring-audit-backups',
    'server/src/networks/wave/posts.ts',
    '../../ledger/post.ts',
  ],
  ['strangers-payments-transfers-debts', 'server/src/transfers/stranger.ts', '../payments/payment.ts'],
  ['every-folder-has-a-level', 'server/src/fresh/thing.ts', '../kit/money.ts'],
  ['every-imported-folder-has-a-level', 'server/src/payments/fresh.ts', '../fresh/thing.ts'],
  ['queries-are-private', 'server/src/http/reader.ts', '../payments/queries.ts'],
  ['queries-are-private', 'server/src/http/reader.test.ts', '../payments/queries/charges.ts'],
  ['queries-are-private-to-modules', 'test/story.test.ts', '../server/src/payments/queries.ts'],
  ['imports-go-down-from-http-worker-pages', 'server/src/http/settings.ts', '../configuration/config.ts'],
  ['who-calls-the-outside', 'server/src/payments/caller.ts', 'undici'],
  ['who-calls-the-outside', 'server/src/kit/caller.ts', 'node:https'],
  ['who-speaks-http', 'server/src/merchants/caller.ts', 'node:http'],
  ['who-speaks-to-postgres', 'server/src/payments/driver.ts', 'pg'],
  ['who-looks-names-up', 'server/src/kit/caller-by-name.ts', 'node:dns'],
  ['who-looks-names-up', 'server/src/webhooks/caller-by-name.ts', 'node:dns/promises'],
  ['nothing-from-the-workshop', 'server/src/payments/workshop.ts', '../../../test/harness/cluster.ts'],
  ['no-development-packages', 'server/src/payments/chance.ts', 'fast-check'],
  ['no-cycles', 'server/src/links/chicken.ts', './egg.ts'],
  ['the-simulator-is-another-program', 'simulator/peek.ts', '../server/src/payments/payment.ts'],
  ['who-knows-the-simulator', 'server/src/payments/peek.ts', '../../../simulator/simulator.ts'],
];

const allowed: [file: string, imported: string][] = [
  ['server/src/app/app.ts', '../http/server.ts'],
  ['server/src/configuration/secrets.ts', './config.ts'],
  ['server/src/operator/main.ts', '../configuration/config.ts'],
  ['server/src/database/migrate.ts', '../kit/money.ts'],
  ['server/src/http/server.ts', '../payments/payment.ts'],
  ['server/src/http/listen.ts', 'node:http'],
  ['server/src/payments/payment.ts', './queries.ts'],
  ['server/src/payments/payment.test.ts', './queries/charges.ts'],
  ['server/src/payments/levels.test.ts', '../http/server.ts'],
  ['server/src/webhooks/caller.ts', 'undici'],
  ['server/src/kit/outbound-http.ts', 'undici'],
  ['server/src/kit/name-resolver.ts', 'node:dns/promises'],
  ['server/src/kit/db.ts', 'pg'],
  ['test/harness/cluster.ts', 'pg'],
  ['server/src/payments/property.test.ts', 'fast-check'],
];

const untouched = [
  'simulator/simulator.ts',
  'server/src/configuration/config.ts',
  'server/src/api/app-error.ts',
  'server/src/kit/money.ts',
  'server/src/ledger/post.ts',
  'server/src/payments/queries.ts',
  'server/src/payments/queries/charges.ts',
];

/** One tree that holds every case above. */
function createTree(): string {
  const root = mkdtempSync(join(tmpdir(), 'dalasi-levels-'));
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  for (const file of untouched) write(file, 'export const value = 1;\n');
  for (const [, file, imported] of refused) write(file, `import '${imported}';\n`);
  for (const [file, imported] of allowed) write(file, `import '${imported}';\n`);
  write('server/src/payments/using.ts', `await using x = f(() => import('pg'));`);
  write('server/src/links/egg.ts', `import './chicken.ts';\n`);
  write('package.json', '{ "dependencies": { "undici": "*", "pg": "*" }, "devDependencies": { "fast-check": "*" } }');
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'));
  return root;
}

describe('the check of the import levels', () => {
  let root: string;
  let levels: ImportLevels;

  before(async () => {
    root = createTree();
    levels = await cruiseImports(root, ['server/src', 'simulator', 'test']);
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  for (const [rule, file, imported] of refused) {
    test(`${file} may not import ${imported}`, () => {
      const rules = levels.violations.filter((violation) => violation.from === file).map((violation) => violation.rule);
      assert.ok(rules.includes(rule), `refused by: ${rules.join(', ') || 'nothing'}`);
    });
  }

  for (const [file, imported] of allowed) {
    test(`${file} may import ${imported}`, () => {
      assert.deepEqual(
        levels.violations.filter((violation) => violation.from === file),
        [],
      );
    });
  }

  test('names the import, the rule it breaks and the rule’s reason', () => {
    const problems = describeViolations(levels);
    const problem = problems.find((line) => line.startsWith('server/src/payments/driver.ts imports '));
    assert.match(problem ?? '', /pg.*\(who-speaks-to-postgres\)\. The driver is behind kit\/db\.ts and/);
  });

  test('a file that says `using` is read as a whole', () => {
    const rules = levels.violations
      .filter(({ from }) => from === 'server/src/payments/using.ts')
      .map(({ rule }) => rule);
    assert.deepEqual(rules, ['who-speaks-to-postgres']);
  });

  test('a tree in which almost no module was found fails', () => {
    assert.match(describeViolations({ modules: 0, violations: [] }).join(), /Only 0 modules were found/);
  });

  test('sees the files of this repository', async () => {
    // One file and what it imports: the check itself reads all of them.
    const { modules } = await cruiseImports(repository, ['server/src/payments/create-payment.ts']);
    assert.ok(modules > 20, `${modules} modules`);
  });
});
