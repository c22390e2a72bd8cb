import { limitMax } from '../api/pagination.ts';
import { findNewestEntryOf } from '../audit/record-audit.ts';
import { UsageError } from '../kit/command-line.ts';
import { StartError } from '../kit/start-error.ts';
import { findMerchantById } from '../merchants/manage-keys.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { findDemoMerchant } from '../process/demo.ts';
import { listEndpoints } from '../webhooks/manage-endpoints.ts';
import { aboutMerchant, auditCommand } from './audit-command.ts';
import type { Command, CommandContext } from './command.ts';
import { createProgress } from './progress.ts';

const days = 365;
const payments = 9_000;
const seed = 'a year of a shop';

const fill: Command = {
  name: 'demo fill',
  usage: '',
  summary: 'Fill the demo business’s test environment with a year of payments',
  details: '  In development only. Takes about a minute, beside a running service or without one.',
  async run(context) {
    const { merchant, baseUrl } = await findDemo(context);
    const money = await context.moneyWork();
    const { fillDemo, hasDemoData } = await import('../demo/fill-demo.ts');
    const { publicUrl } = context.installation;
    const url = `${publicUrl ?? baseUrl}/dashboard/test/${merchant.shortId}`;
    if (await hasDemoData(money, merchant.id)) {
      if (!(await findNewestEntryOf(context.db, merchant.businessId, merchant.id, 'demo.result'))) throw interrupted;
      return { text: `The demo data is there already: ${url}`, data: { payments: 0, url }, exitCode: 0 };
    }
    await refuseRealEndpoints(context, merchant.id);
    const progress = createProgress(context.progressTo, { total: payments, what: 'payments' });
    const { db, onboarding, clock } = context;
    const written = (action: string, sent: unknown) =>
      db.withTransaction(async (tx) => auditCommand(tx, context, { ...aboutMerchant(merchant), action, sent }));
    // Before the first payment: a command that is killed has made some.
    await written('demo.fill', { payments });
    const parts = { money, db, sealer: onboarding.sealer };
    const end = clock.now();
    const onProgress = (done: number): void => progress.show(Math.min(done, payments));
    const filled = await fillDemo(parts, { merchant, seed, days, payments, end, onProgress }).finally(() =>
      progress.end(),
    );
    await written('demo.result', { payments: filled.payments });
    const text = [
      `${filled.payments.toLocaleString('en')} payments since ${filled.start.toISOString().slice(0, 10)} in ${merchant.name}’s test environment.`,
      `Look at them: ${url}`,
      `Good to look at: the home page’s year, payments that expired or were paid late, the refunds, two payments of another amount`,
      `(npm run operator -- cases list), an endpoint that fails since yesterday and one that is paused, the counters’ screens, the requests, and a reversed payment of ${debtDays} days ago, whose share a partner had to repay.`,
    ].join('\n');
    return { text, data: { payments: filled.payments, url }, exitCode: 0 };
  },
};

const debtDays = 40;

const interrupted = new StartError(
  'An earlier demo fill has not said that it ended: it was interrupted, still runs, or was of an older version. If only a part of the year is there, start the service on an empty DATA_DIR for a whole one.',
);

export const demoCommands: readonly Command[] = [fill];

/** Throws UsageError where there is no demo business that may be filled. */
async function findDemo({
  installation,
  db,
  onboarding,
}: CommandContext): Promise<{ merchant: Merchant; baseUrl: string }> {
  if (installation.production) {
    throw new UsageError('Demo data is for development: this installation runs with APP_ENV=production.');
  }
  const found = await findDemoMerchant(installation, { db, context: onboarding });
  const merchant = found && (await findMerchantById(db, found.merchantId));
  if (!merchant) {
    throw new UsageError('There is no demo business here. Start the service once on an empty database: npm start');
  }
  if (!merchant.testMode)
    throw new UsageError('The key in demo.json is a live one; only a test environment is filled.');
  return { merchant, baseUrl: found.baseUrl };
}

/** A running service would send the events of a year to it. Throws UsageError. */
async function refuseRealEndpoints({ db }: CommandContext, merchantId: string): Promise<void> {
  const page = { limit: limitMax, offset: 0, before: null };
  const { rows } = await listEndpoints(db, merchantId, page);
  const real = rows.find(({ url }) => url !== null);
  if (!real) return;
  throw new UsageError(
    `The demo business has a webhook endpoint with an address, which would get the events of a year. Take it out first: PUT /v1/webhook-endpoints/${real.id} with {"url":null}.`,
  );
}
