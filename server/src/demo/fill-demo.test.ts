import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fillWithDemoData } from '../../../test/harness/demo-data.ts';
import { startService, type TestBusiness, type TestService } from '../../../test/harness/service.ts';
import { SettableClock } from '../../../test/harness/settable-clock.ts';
import { createServiceLog } from '../api/service-log.ts';
import { addMs, dayMs, utcDay } from '../kit/clock.ts';
import { UsageError } from '../kit/command-line.ts';
import { verifyLedger } from '../ledger/verify.ts';
import type { CommandContext } from '../operator/command.ts';
import { demoCommands } from '../operator/demo-commands.ts';
import { rollUpFigures } from '../reports/daily-figures.ts';
import { readDays } from '../reports/read-report.ts';
import { verifyHolds } from '../transfers/verify-holds.ts';

const period = { seed: 'a test', days: 16, payments: 70, end: new Date('2026-11-20T15:20:00Z') };

let service: TestService;
let one: TestBusiness;
let other: TestBusiness;

before(async () => {
  // At the end of the period, so that what is left for the service is not due yet.
  service = await startService({ clock: new SettableClock(period.end) });
  one = await service.onboard();
  other = await service.onboard();
});
after(() => service.stop());

interface Figures {
  state: string;
  count: bigint;
  amount: string;
  first: Date;
  last: Date;
}

function figures({ test: { merchant } }: TestBusiness): Promise<Figures[]> {
  return service.db.rows<Figures>({
    name: 'test_demo_figures',
    text: `SELECT 'payment ' || status AS state, count(*), sum(amount)::text AS amount,
             min(created_at) AS first, max(created_at) AS last FROM payment_intents WHERE merchant_id = $1 GROUP BY status
           UNION ALL
           SELECT kind || ' ' || status, count(*), sum(amount)::text, min(created_at), max(created_at)
           FROM transfers WHERE merchant_id = $1 GROUP BY kind, status
           UNION ALL
           SELECT 'event ' || kind, count(*), '', min(created_at), max(created_at) FROM events
           WHERE merchant_id = $1 AND kind <> 'webhook_endpoint.failing' GROUP BY kind
           UNION ALL
           SELECT 'delivery ' || status, count(*), '', min(created_at), max(created_at) FROM webhook_deliveries
           WHERE merchant_id = $1 GROUP BY status
           UNION ALL
           SELECT 'request ' || method || ' ' || status_code, count(*), '', min(created_at), max(created_at) FROM request_log
           WHERE merchant_id = $1 GROUP BY method, status_code
           ORDER BY state`,
    values: [merchant.id],
  });
}

test('demo data is the same for the same seed, lies in its period, and the ledger is right', async () => {
  // A service that runs has closed the days without payments.
  const { db, clock } = service;
  await rollUpFigures({ db, clock, log: createServiceLog({ level: 'error' }) });
  const filled = await fillWithDemoData(service, one.test.merchant, period);
  const again = await fillWithDemoData(service, other.test.merchant, period);
  assert.ok(filled.payments > 40 && filled.isMarked);
  assert.equal(again.payments, filled.payments);
  const [written, repeated] = [await figures(one), await figures(other)];
  assert.deepEqual(repeated, written);
  const states = written.map(({ state }) => state);
  for (const state of [
    ...['payment successful', 'payment expired', 'transfer completed', 'delivery delivered', 'delivery kept'],
    ...['request POST 201', 'request GET 200'],
  ]) {
    assert.ok(states.includes(state), `${state} is among ${states.join(', ')}`);
  }
  for (const { state, first, last } of written) {
    assert.ok(first >= filled.start && last <= new Date(period.end.getTime() + 60_000), state);
  }
  const days = { from: utcDay(filled.start), to: utcDay(addMs(period.end, -dayMs)) };
  assert.ok(
    (await readDays(service.db, one.test.merchant, days)).total.collectedMinor > 0n,
    'the charts show the past',
  );
  assert.equal((await verifyLedger(service.db)).finding, null);
  assert.equal(await verifyHolds(service.db), null);
});

test('production is refused, and so is an installation without a demo business', async () => {
  const run = (production: boolean): Promise<unknown> => {
    const installation = { production, dataDirectory: '/nowhere', publicUrl: null, port: 0 };
    // The refusal comes before anything else of the context is used.
    const context = { installation, db: service.db, onboarding: {} } as unknown as CommandContext;
    const [fill] = demoCommands;
    assert.ok(fill);
    return fill.run(context, { positionals: [], options: {}, lists: {}, flags: new Set() });
  };
  await assert.rejects(run(true), (error) => error instanceof UsageError && /development/.test(error.message));
  await assert.rejects(run(false), (error) => error instanceof UsageError && /npm start/.test(error.message));
});
