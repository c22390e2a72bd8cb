/**
 * Tries the sample configurations in examples/proxies under load, where nginx and Caddy are installed: sixteen clients create
 * and read payments through the proxy, 200 requests a second, while two instances are restarted in turn. Prints what was
 * answered and lost, and ends with 1 where a request was lost.
 *
 *     node tools/try-proxies.ts [restarts] [nginx | caddy]     20 restarts and both unless you say otherwise
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startDatabaseServer, type DatabaseServer } from '../test/harness/database-server.ts';
import { ProcessWorld } from '../test/harness/process.ts';
import type { Settings } from '../test/harness/service-world.ts';
import { eventually } from '../test/harness/eventually.ts';
import { freePort } from '../test/harness/free-port.ts';
import { createTestKey, Load, productionSettings, RollingInstances } from '../test/harness/rolling-restarts.ts';
import { fastTemporaryDirectory } from '../test/harness/temporary-directory.ts';

const samples = join(import.meta.dirname, '../examples/proxies');
const errorLog = 'error.log';
const site = 'pay.example.gm';
// After a restart, so that the proxy has found the instance that is back before the other one goes.
const responsesBetween = 400;

interface Proxy {
  name: string;
  sample: string;
  /** The sample as a whole configuration without TLS, on `port`. */
  configure(sample: string, port: number, directory: string): string;
  command(configuration: string, directory: string): [string, ...string[]];
}

const proxies: readonly Proxy[] = [
  {
    name: 'nginx',
    sample: 'nginx.conf',
    configure: (sample, port, directory) => {
      const server = sample.replace('listen 443 ssl;', `listen 127.0.0.1:${port};`).replaceAll(/^ *ssl_.*$/gm, '');
      const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
      const paths = kinds.map((kind) => `${kind}_temp_path ${directory}/${kind};`).join('\n');
      return `pid ${directory}/pid; error_log stderr; events {} http { access_log off; ${paths}\n${server} }`;
    },
    command: (configuration, directory) => ['nginx', '-p', directory, '-c', configuration, '-g', 'daemon off;'],
  },
  {
    name: 'caddy',
    sample: 'Caddyfile',
    configure: (sample, port) => `{\n admin off\n}\n${sample.replace(`${site} {`, `http://${site}:${port} {`)}`,
    command: (configuration) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', configuration],
  },
];

const [restartsText = '20', only] = process.argv.slice(2);
const world = new ProcessWorld();
const databases = await startDatabaseServer();
try {
  for (const proxy of proxies.filter(({ name }) => only === undefined || name === only)) {
    await tryProxy(proxy, { restarts: Number(restartsText), databases });
  }
} finally {
  await world.close();
  await databases.stop();
}

async function tryProxy(
  proxy: Proxy,
  { restarts, databases: server }: { restarts: number; databases: DatabaseServer },
): Promise<void> {
  // With the usual notice, for which the samples are written.
  const settings = productionSettings(world, await server.createDatabase());
  const startService = (own: Settings) => world.startService(own);
  const instances = await RollingInstances.start([startService, startService], settings);
  const key = await createTestKey(world, settings);
  const port = await freePort();
  const directory = mkdtempSync(join(fastTemporaryDirectory(), 'dalasi-proxy-'));
  const child = startProxy(proxy, { port, directory, instances });
  const ended = once(child, 'exit');
  try {
    await eventually(`${proxy.name} serves`, () => isServing(port));
    const load = new Load({ clients: 16, requestsPerSecond: 200, key, headers: { host: site }, nextPort: () => port });
    try {
      for (let restart = 0; restart < restarts; restart += 1) {
        await instances.restart(restart);
        const before = load.succeeded;
        await eventually('requests are answered', () => load.succeeded > before + responsesBetween);
      }
    } finally {
      await load.stop();
    }
    const slowestMs = Math.round(Math.max(...instances.exitMs));
    console.log(
      `${proxy.name}: ${restarts} restarts, ${load.succeeded} answered, ${load.failures.length} lost, ` +
        `the slowest end took ${slowestMs} ms`,
    );
    for (const failure of new Set(load.failures)) console.log(`  ${failure}`);
    if (load.failures.length > 0) {
      process.exitCode = 1;
      printErrors(join(directory, errorLog));
    }
  } finally {
    child.kill('SIGTERM');
    await ended;
    rmSync(directory, { recursive: true });
    for (const instance of instances.services) {
      instance.stop();
      await instance.ended;
    }
  }
}

/** Prints what the proxy logged, without refused connections: it tries those again at the other instance. */
function printErrors(file: string): void {
  const lines = readFileSync(file, 'utf8').split('\n');
  for (const line of lines) if (line.includes('error') && !line.includes('refused')) console.log(`  ${line}`);
}

function startProxy(
  proxy: Proxy,
  { port, directory, instances }: { port: number; directory: string; instances: RollingInstances },
): ChildProcess {
  const [first, second] = instances.ports;
  const sample = readFileSync(join(samples, proxy.sample), 'utf8')
    .replaceAll('127.0.0.1:8081', `127.0.0.1:${first}`)
    .replaceAll('127.0.0.1:8082', `127.0.0.1:${second}`);
  const configuration = join(directory, proxy.sample);
  writeFileSync(configuration, proxy.configure(sample, port, directory));
  const [program, ...args] = proxy.command(configuration, directory);
  const log = openSync(join(directory, errorLog), 'w');
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', log], env: { ...process.env, HOME: directory } });
  closeSync(log);
  return child;
}

async function isServing(port: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/openapi.json`).catch(() => undefined);
  return response !== undefined && response.status < 500;
}
