import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../../server/src/configuration/config.ts';
import { servingUrlOf } from '../../server/src/database/roles.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import { readSecrets, type ConfiguredSecrets } from '../../server/src/configuration/secrets.ts';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { addMerchants, type MerchantWithKey } from './add-merchants.ts';
import { addSubscribers, type Subscriber } from './add-subscribers.ts';
import { systemClock } from '../../server/src/kit/clock.ts';

/** The service in its own process, as `npm start` runs it. */
export interface Service {
  url: string;
  /** The demo merchant's test key; it has no rate limit. */
  key: string;
  merchantId: string;
  /** Of the demo business's owner in the dashboard. */
  login: { email: string; password: string };
  /** The database as its owner, and as the role with which the service connects. */
  adminUrl: string;
  appUrl: string;
  pid: number;
  /** What the simulated networks share with the service. */
  networkSecrets: { bearerSecret: string; callbackSecret: string };
  /** Resolves when no due work is left. */
  settled(): Promise<void>;
  /** Creates a record through the API, with the demo merchant's key. */
  post<Created>(path: string, body: object): Promise<Created>;
  /** Adds test merchants, each with a key and no rate limit. */
  addMerchants(count: number): Promise<MerchantWithKey[]>;
  /** Adds a test merchant with an endpoint for each address. */
  addSubscribers(urls: readonly string[]): Promise<Subscriber[]>;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  /** The setting ROLE. Default: everything. */
  role?: 'all' | 'api';
  /** Settings beside those of a first start. */
  settings?: Readonly<Record<string, string>>;
  /** Another commit's checkout, with its packages, to run instead of this one. */
  checkout?: string;
}

const repository = join(import.meta.dirname, '../..');
const startWithinMs = 60_000;
const stopWithinMs = 30_000;
const settleWithinMs = 120_000;
const pollEveryMs = 50;

export async function startService(
  options: ServiceOptions & { adminUrl: string; dataDirectory: string },
): Promise<Service> {
  const { adminUrl, dataDirectory, role = 'all', settings = {}, checkout = repository } = options;
  mkdirSync(dataDirectory, { recursive: true });
  const factsPath = join(dataDirectory, 'demo.json');
  forgetAddress(factsPath);
  const start = startCommand(checkout);
  const child = spawn(process.execPath, start.words, {
    cwd: checkout,
    // None of the caller's settings: it measures what a first start gets.
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      APP_ENV: 'development',
      ROLE: role,
      LOG_LEVEL: 'warn',
      DATABASE_URL: adminUrl,
      DATA_DIR: dataDirectory,
      ...start.environment,
      ...profiling(),
      ...settings,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = (): Promise<void> => stopChild(child, exited);
  try {
    const facts = await readFacts(child, factsPath);
    return {
      url: facts.base_url,
      key: facts.secret_key,
      merchantId: await findDemoMerchant(adminUrl),
      login: facts.dashboard,
      adminUrl,
      appUrl: servingUrlOf(adminUrl, { password: secretsOf({ adminUrl, dataDirectory }).servingPassword }),
      networkSecrets: networkSecretsOf({ adminUrl, dataDirectory }),
      pid: child.pid ?? 0,
      settled: () => untilSettled(adminUrl),
      post: (path, body) => post(facts, path, body),
      addMerchants: (count) => addMerchants({ adminUrl, dataDirectory }, count),
      addSubscribers: (urls) => addSubscribers({ adminUrl, dataDirectory }, urls),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** With BENCH_PROFILE, a folder, each service process leaves its processor profile there when it stops. */
function profiling(): Record<string, string> {
  const folder = process.env['BENCH_PROFILE'];
  return folder === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder}` };
}

/** The secrets that the service has read or made at its start. */
function secretsOf({ adminUrl, dataDirectory }: { adminUrl: string; dataDirectory: string }): ConfiguredSecrets {
  const config = readConfig({ APP_ENV: 'development', DATABASE_URL: adminUrl, DATA_DIR: dataDirectory });
  return readSecrets(config, systemRandom);
}

function networkSecretsOf(service: { adminUrl: string; dataDirectory: string }): Service['networkSecrets'] {
  const { simulatorBearerSecret: bearerSecret, simulatorCallbackSecret: callbackSecret } = secretsOf(service);
  return { bearerSecret, callbackSecret };
}

/** What `npm start` passes to Node, environment and flags: they decide how much memory it takes. */
function startCommand(checkout: string): { environment: Record<string, string>; words: string[] } {
  const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as Manifest;
  const [, exported = '', words] = /(?:export (.+) && )?\bexec (?:"\$node"|node) (.+)$/.exec(scripts.start) ?? [];
  if (words === undefined) throw new Error(`npm start runs ${scripts.start}, not "$node"`);
  const environment: Record<string, string> = {};
  for (const [, name = '', value = ''] of exported.matchAll(/(\w+)=(\S+)/g)) environment[name] = value;
  return { environment, words: words.split(' ') };
}

interface Manifest {
  scripts: { start: string };
}

interface Facts {
  base_url: string;
  secret_key: string;
  dashboard: { url: string; email: string; password: string };
}

/** Of an earlier service with these files: the file shall name an address only once this one listens. */
function forgetAddress(path: string): void {
  if (!existsSync(path)) return;
  const facts = JSON.parse(readFileSync(path, 'utf8')) as Facts;
  writeFileSync(path, JSON.stringify({ ...facts, base_url: '' } satisfies Facts));
}

/** The file exists from the start of the service, its address only once it listens. */
async function readFacts(child: ChildProcess, path: string): Promise<Facts> {
  const giveUpAt = systemClock.now().getTime() + startWithinMs;
  for (;;) {
    const facts = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Facts) : undefined;
    if (facts && facts.base_url !== '') return facts;
    if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}`);
    if (systemClock.now().getTime() > giveUpAt) throw new Error('the service did not start in time');
    await systemClock.sleep(pollEveryMs);
  }
}

async function post<Created>({ base_url: url, secret_key: key }: Facts, path: string, body: object): Promise<Created> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status !== 201) throw new Error(`POST ${path} returned ${response.status}: ${text}`);
  return JSON.parse(text) as Created;
}

async function findDemoMerchant(adminUrl: string): Promise<string> {
  return withAdminClient(adminUrl, async (client) => {
    const { rows } = await client.query<{ id: string }>('SELECT id FROM merchants WHERE test_mode');
    const [merchant] = rows;
    if (!merchant) throw new Error('there is no demo merchant');
    return merchant.id;
  });
}

/** Waits until no work is due. Gives up when the backlog has not shrunk for a while: paying out what a long overload left takes minutes. */
async function untilSettled(adminUrl: string): Promise<void> {
  let [least, giveUpAt] = [Infinity, 0];
  await withAdminClient(adminUrl, async (client) => {
    for (;;) {
      const now = systemClock.now();
      const { rows } = await client.query<{ due: number }>(
        `SELECT (SELECT count(*) FROM outbox WHERE due_at <= $1)::integer
              + (SELECT count(*) FROM network_inbox WHERE due_at <= $1)::integer
              + (SELECT count(*) FROM simulator.callbacks WHERE due_at <= $1)::integer AS due`,
        [now],
      );
      const due = rows[0]?.due ?? 0;
      if (due === 0) return;
      if (due < least) [least, giveUpAt] = [due, now.getTime() + settleWithinMs];
      if (now.getTime() > giveUpAt) throw new Error(`the workers did not finish in time: ${due} are due`);
      // Counting a long backlog takes time from the workers.
      await systemClock.sleep(due > 1_000 ? 20 * pollEveryMs : pollEveryMs);
    }
  });
}

async function stopChild(child: ChildProcess, exited: Promise<void>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const killTimeout = new AbortController();
  const killTimer = systemClock.sleep(stopWithinMs, killTimeout.signal).then(() => {
    if (!killTimeout.signal.aborted) child.kill('SIGKILL');
  });
  await exited;
  killTimeout.abort();
  await killTimer;
}
