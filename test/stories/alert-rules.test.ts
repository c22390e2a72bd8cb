import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { addMs, systemClock } from '../../server/src/kit/clock.ts';
import { createVisitor } from '../harness/console-world.ts';
import { eventually } from '../harness/eventually.ts';
import { startService, type TestService } from '../harness/service.ts';
import { SettableClock } from '../harness/settable-clock.ts';

const rules = readFileSync(join(import.meta.dirname, '../../examples/prometheus/alerts.yml'), 'utf8');
const expressions = [...rules.matchAll(/- alert: (\w+)\n\s+expr: (.*)/g)].map(([, alert = '', text = '']) => ({
  alert,
  text,
}));

// The longest: a drain runs each of them then.
const purgeIntervalMs = 60 * 60_000;

let service: TestService;
/** All figures of a service that nobody uses. */
let quiet: string;

before(async () => {
  // It ends at the time of the database, whose figures are compared with the clock.
  const clock = new SettableClock(addMs(systemClock.now(), -purgeIntervalMs));
  service = await startService({ clock });
  await service.onboard();
  clock.set(systemClock.now());
  await eventually('every chore has run once', async () => {
    await service.app.drain();
    quiet = await scrape();
    return (
      /^dalasi_ledger_checked_seconds [0-9.]+$/m.test(quiet) && /^dalasi_chain_heads_recorded_seconds /m.test(quiet)
    );
  });
});
after(() => service.stop());

const scrape = async (): Promise<string> => (await fetch(`${service.url}/metrics`)).text();

interface Sample {
  labels: Record<string, string>;
  value: number;
}

function samplesOf(name: string, text: string): Sample[] {
  return [...text.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? ([-0-9.e+]+)$`, 'gm'))].map(
    ([, labels = '', value]) => ({
      labels: Object.fromEntries(
        [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', each = '']) => [key, each]),
      ),
      value: Number(value),
    }),
  );
}

test('each alert rule names figures that exist, with labels that they have', () => {
  assert.ok(expressions.length > 20);
  assert.equal(expressions.length, rules.split('- alert:').length - 1, 'each stands on one line');
  for (const { alert, text } of expressions) {
    const selectors = [...text.matchAll(/(dalasi_\w+)(?:\{([^}]*)\})?/g)];
    if (alert !== 'DalasiDown') assert.ok(selectors.length > 0, alert);
    for (const [, name = '', conditions = ''] of selectors) {
      assert.match(quiet, new RegExp(`^# HELP ${name} `, 'm'), `${alert}: ${name}`);
      const [sample] = samplesOf(name, quiet);
      const labels = [...conditions.matchAll(/(\w+)=~?"/g)].map(([, label = '']) => label);
      if (sample) for (const label of labels) assert.ok(label in sample.labels, `${alert}: ${name}{${label}}`);
    }
  }
});

test('no simple rule fires on a service that nobody uses, and what must not be absent is there', () => {
  let compared = 0;
  for (const { alert, text } of expressions) {
    for (const [, name = '', limit = ''] of text.matchAll(
      /(?:^| |min\()(dalasi_\w+)(?:\{[^}]*\})?\)? > (\d+)(?: (?!\*)|$)/g,
    )) {
      for (const { labels, value } of samplesOf(name, quiet)) {
        assert.ok(value <= Number(limit), `${alert}: ${name} ${JSON.stringify(labels)} ${value}`);
        compared += 1;
      }
    }
    for (const [, name = '', queue] of text.matchAll(/absent\((dalasi_\w+)(?:\{queue="([^"]*)"\})?\)/g)) {
      const found = samplesOf(name, quiet).filter(({ labels }) => queue === undefined || labels['queue'] === queue);
      assert.ok(found.length > 0, `${alert}: ${name} ${queue ?? ''}`);
    }
  }
  assert.ok(compared > 20);
});

test('a synthetic payment is paid as a merchant’s, and one that is not raises its alert', async () => {
  const { test: merchant } = await service.onboard('Monitoring');
  const settings = { SYNTHETIC_PAYMENT_KEY: merchant.key };
  const monitoring = await startService({ database: service.database, settings });
  const figures = async () => {
    const text = await (await fetch(`${monitoring.url}/metrics`)).text();
    const valueOf = (name: string) => samplesOf(`dalasi_synthetic_payment_${name}`, text)[0]?.value;
    return { failed: valueOf('failed'), paid: valueOf('paid_seconds'), seconds: valueOf('duration_seconds') };
  };
  await monitoring.app.drain();
  await eventually('it is paid', async () => (await figures()).failed === 0);
  assert.ok(((await figures()).seconds ?? 0) > 0);
  const { rows } = await service.database.asOwner('SELECT status FROM payment_intents WHERE merchant_id = $1', [
    merchant.merchant.id,
  ]);
  assert.deepEqual(new Set(rows.map(({ status }) => status)), new Set(['successful']));
  await service.database.asOwner(`UPDATE api_keys SET revoked_at = created_at WHERE merchant_id = $1`, [
    merchant.merchant.id,
  ]);
  await eventually('the next one fails', async () => {
    await monitoring.app.drain();
    return (await figures()).failed === 1;
  });
  const warning = monitoring.logLines.find((line) => line.includes('the synthetic payment failed'));
  await monitoring.stop();
  assert.match(warning ?? '', /status 401 api_key_invalid/);
});

test('every queue and chore has a heartbeat, and counters are there before their first increase', async () => {
  const beats = samplesOf('dalasi_heartbeat_seconds', quiet);
  const intervals = samplesOf('dalasi_heartbeat_interval_seconds', quiet);
  assert.deepEqual(
    beats.map(({ labels }) => labels['queue']),
    intervals.map(({ labels }) => labels['queue']),
  );
  assert.ok(beats.length > 25, String(beats.length));
  assert.deepEqual(
    beats.filter(({ value }) => value > 60),
    [],
  );
  const outcomes = samplesOf('dalasi_payments_total', quiet);
  assert.ok(
    outcomes.some(({ labels, value }) => labels['network'] === 'wave' && labels['outcome'] === 'failed' && value === 0),
  );
  assert.match(quiet, /^dalasi_build_info\{version="[^"]+",node="v\d+[^"]*"\} 1$/m);
});

test('refused sign-ins are counted where the rule for guessed passwords looks', async () => {
  const rule = expressions.find(({ alert }) => alert === 'DalasiPasswordsGuessed')?.text ?? '';
  const [, routes = '', statuses = ''] = /route=~"([^"]*)",status=~"([^"]*)"/.exec(rule) ?? [];
  const refusedBefore = await refusals();
  for (const home of ['/dashboard', '/operator']) {
    const login = { email: 'nobody@example.gm', password: 'mango pirogue laterite drum' };
    assert.equal((await createVisitor(service.url, '').submit(`${home}/sign-in`, login)).status, 400);
  }
  assert.equal((await refusals()) - refusedBefore, 2);

  async function refusals(): Promise<number> {
    return samplesOf('dalasi_http_requests_total', await scrape())
      .filter(({ labels }) => labels['method'] === 'POST')
      .filter(({ labels }) => new RegExp(`^(?:${routes})$`).test(labels['route'] ?? ''))
      .filter(({ labels }) => new RegExp(`^(?:${statuses})$`).test(labels['status'] ?? ''))
      .reduce((sum, { value }) => sum + value, 0);
  }
});
