import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';

const rules = join(import.meta.dirname, '../../examples/prometheus/alerts.yml');

export interface Alert {
  name: string;
  labels: Readonly<Record<string, string>>;
}

/** A real Prometheus, which scrapes services and evaluates the rules that operators get. */
export interface Prometheus {
  /** The alerts that fire, without those that still wait for their `for`. */
  firing(): Promise<Alert[]>;
  stop(): Promise<void>;
}

/** Scrapes and evaluates every 15 seconds, as the rules ask for. */
export async function startPrometheus(targets: readonly string[]): Promise<Prometheus> {
  const directory = mkdtempSync(join(tmpdir(), 'dalasi-prometheus-'));
  const config = {
    global: { scrape_interval: '15s', evaluation_interval: '15s' },
    rule_files: [rules],
    scrape_configs: [
      { job_name: 'dalasi', static_configs: [{ targets: targets.map((target) => new URL(target).host) }] },
    ],
  };
  // YAML contains JSON.
  writeFileSync(join(directory, 'prometheus.yml'), JSON.stringify(config));
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(directory, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=${address}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  let problem: string | null = null;
  child.once('error', () => {
    problem = 'this test needs the program `prometheus`: install it (Debian: apt-get install prometheus)';
  });
  child.once('exit', (code) => {
    problem ??= `Prometheus ended with ${code}`;
  });
  const stopWithTest = (): void => void child.kill('SIGKILL');
  process.once('exit', stopWithTest);
  const get = async (path: string): Promise<Response> => {
    if (problem !== null) throw new Error(problem);
    return await fetch(`http://${address}${path}`);
  };
  await eventually('Prometheus is ready', async () => {
    if (problem !== null) throw new Error(problem);
    return await get('/-/ready').then(
      ({ ok }) => ok,
      () => false,
    );
  });
  return {
    firing: async () => {
      const { data } = (await (await get('/api/v1/alerts')).json()) as {
        data: { alerts: { labels: Record<string, string>; state: string }[] };
      };
      return data.alerts
        .filter(({ state }) => state === 'firing')
        .map(({ labels }) => ({ name: labels['alertname'] ?? '', labels }));
    },
    stop: async () => {
      process.removeListener('exit', stopWithTest);
      if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        await ended;
      }
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
