/**
 * Tries what the README says as a newcomer does whose machine is older than this one: a copy of the checkout, an npm and
 * a Node from the registry, `npm ci`, `npm start` on an empty data directory, the first payment with the printed curl
 * line, and an end by SIGTERM.
 *
 *     node tools/try-install.ts                    the npm and the Node of a machine with Node 20
 *     node tools/try-install.ts 10.9.9 22.23.3     another npm and another Node
 *
 * It takes some two minutes and 700 MB in the temporary directory. It ends with 1 at the first thing that is wrong.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { runPrintedCurl } from '../test/harness/printed-curl.ts';
import { ProcessWorld } from '../test/harness/process.ts';
import { assertStopsCleanly } from '../test/harness/program.ts';

// npm ci takes half a minute on an idle machine with a fast line.
const stepMaxMs = 600_000;
const repository = join(import.meta.dirname, '..');
const notCopied = new Set(['node_modules', '.git', 'data', 'coverage', '.tmp']);

const [npmVersion = '10.8.2', nodeVersion = '20.20.2'] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), 'dalasi-try-install-'));
const world = new ProcessWorld();
try {
  await tryInstall();
  console.log('It installs, starts, takes a payment and ends.');
} finally {
  await world.close();
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
}

async function tryInstall(): Promise<void> {
  const checkout = join(scratch, 'dalasi');
  cpSync(repository, checkout, { recursive: true, filter: (path) => !notCopied.has(relative(repository, path)) });
  const nodePackage = `node-${process.platform}-${process.arch}`;
  console.log(`Fetching npm ${npmVersion} and ${nodePackage} ${nodeVersion}`);
  mkdirSync(join(scratch, 'tools'));
  const args = ['install', '--prefix', join(scratch, 'tools'), `npm@${npmVersion}`, `${nodePackage}@${nodeVersion}`];
  await run('npm', args, { cwd: scratch });
  const modules = join(scratch, 'tools/node_modules');
  const settings = {
    ...environmentOutsideNpm(),
    PATH: `${join(modules, nodePackage, 'bin')}:/usr/local/bin:/usr/bin:/bin`,
    npm_config_update_notifier: 'false',
  };
  const npm = ['node', join(modules, 'npm/bin/npm-cli.js')];

  console.log('npm ci');
  await run('env', npm.concat('ci'), { cwd: checkout, env: settings });
  console.log('npm start');
  const dataDirectory = world.newDataDirectory();
  const serviceSettings = { DATA_DIR: dataDirectory, PORT: '0', LOG_LEVEL: 'error' };
  const service = world.start(['env', ...npm, 'start'], { ...settings, ...serviceSettings }, { cwd: checkout });
  const { payment_intent_id: id, payment_link: link } = await runPrintedCurl(world, service);
  const page = await fetch(link);
  if (page.status !== 200) throw new Error(`the page of payment ${id} answered ${page.status}`);
  console.log(`Payment ${id} was created; SIGTERM`);
  service.signal('SIGTERM');
  await assertStopsCleanly({ service, dataDirectory });
}

/** What an `npm run` around this has set would tell the other npm what to do. */
function environmentOutsideNpm(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'));
  return Object.fromEntries(entries.map(([name, value]) => [name, value ?? '']));
}

/** To its end, which has to be a good one and to come in time; what it wrote stands in the error. */
async function run(program: string, args: readonly string[], options: { cwd: string; env?: NodeJS.ProcessEnv }) {
  await promisify(execFile)(program, args, { ...options, timeout: stepMaxMs });
}
