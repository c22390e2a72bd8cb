import type { MoneyContext } from '../app/contexts.ts';
import { addMs, dayMs, systemClock, utcDay, hourMs, minuteMs } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import { dalasi } from '../kit/money.ts';
import type { Sealer } from '../kit/seal.ts';
import { foldBalances } from '../ledger/balances.ts';
import { listKeys } from '../merchants/manage-keys.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { resetDailyFigures } from '../reports/daily-figures.ts';
import { listGroups } from '../sub-accounts/manage-groups.ts';
import { Agenda } from './agenda.ts';
import { groupName } from './catalogue.ts';
import { happens, wholeNumber } from './choices.ts';
import { createDemoWorld, type DemoWorld } from './demo-world.ts';
import {
  availableMinor,
  playPayout,
  playRefund,
  playReversal,
  playTransfer,
  type TransferPlan,
} from './money-out-story.ts';
import { playPayment } from './payment-story.ts';
import { daysOf, paymentsByDay, planDay, type PaymentPlan, type Period } from './plan-payments.ts';
import { numberOf, setFees, setUpBusiness, type DemoRecords } from './set-up-business.ts';
import { createDemoWebhooks, type DemoWebhooks } from './webhook-story.ts';

export interface FillOptions {
  merchant: Merchant;
  seed: string;
  /** How many days before `end` the data begins. */
  days: number;
  /** About how many payments. */
  payments: number;
  end: Date;
  onProgress: (payments: number) => void;
}

export interface FilledDemo {
  payments: number;
  start: Date;
}

// Stories that are played together. More gain nothing: one connection carries them all.
const sharedMax = 8;
// Deliveries are the service's slowest part, and attempts older than thirty days are deleted.
const webhookDays = 14;
// When a network takes a large payment back whose share was paid out already.
const debtDaysBefore = 40;
// Since when an endpoint is paused, which then has events to send again.
const pausedHours = 50;
const refundProbability = 0.018;
const foldEveryDays = 7;

/** Whether the demo data of a merchant was begun. Throws AppError `rate_limited` when too many searches are running. */
export async function hasDemoData(context: Pick<MoneyContext, 'db' | 'lists'>, merchantId: string): Promise<boolean> {
  const page = { limit: 1, offset: 0, before: null };
  return (await listGroups(context, merchantId, page, { term: groupName })).rows.length > 0;
}

/**
 * Writes a past for a merchant through the service's own use-cases, day by day, each day in one transaction. The same seed and
 * period write the same.
 */
export async function fillDemo(
  parts: { money: MoneyContext; db: Database; sealer: Sealer },
  options: FillOptions,
): Promise<FilledDemo> {
  const { merchant, seed, end } = options;
  const start = new Date(utcDay(addMs(end, -options.days * dayMs)));
  const period: Period = { start, end, payments: options.payments, seed };
  await setFees(parts.db, merchant);
  const floorMinor = await availableMinor({ ...parts, merchant });
  const keyId =
    (await listKeys(parts.db, systemClock, merchant)).findLast(({ revokedAt }) => revokedAt === null)?.id ?? null;
  const world = createDemoWorld(parts.money, parts.db, { merchant, seed, end, floorMinor, keyId });
  // Read before the first transaction, because the copy is filled through another connection.
  const current = (await world.money.merchants.byId(merchant.id)) ?? merchant;
  await world.money.merchants.byShortId(merchant.shortId);
  const author = new DemoAuthor({ ...world, merchant: current }, period, parts.sealer);
  const counts = paymentsByDay(period);
  for (const [index, day] of daysOf(period).entries()) {
    await author.writeDay(day, counts[index] ?? 0);
    options.onProgress(author.payments);
    if (index % foldEveryDays === 0) await foldBalances(parts.db);
  }
  // A running service has rolled the empty days up.
  await parts.db.withTransaction(async (tx) => resetDailyFigures(tx, merchant.id));
  return { payments: author.payments, start };
}

/** Writes one day after the other. */
class DemoAuthor {
  readonly #world: DemoWorld;
  readonly #period: Period;
  readonly #webhooks: DemoWebhooks;
  readonly #agenda = new Agenda();
  #records: DemoRecords | null = null;
  #hasWebhooks = false;
  payments = 0;

  constructor(world: DemoWorld, period: Period, sealer: Sealer) {
    this.#world = world;
    this.#period = period;
    this.#webhooks = createDemoWebhooks(world, sealer, addMs(period.end, -26 * hourMs));
  }

  async writeDay(day: Date, count: number): Promise<void> {
    const { db, time, requests } = this.#world;
    const { end } = this.#period;
    const dayEnd = new Date(Math.min(+addMs(day, dayMs), +end));
    await db.together(async () => {
      this.#records ??= await time.play('set up', addMs(day, hourMs), () => setUpBusiness(this.#world));
      this.#planMorning(day, this.#records);
      const plans = planDay(this.#period, day, count, this.#records);
      for (const plan of plans) this.#planPayment(plan);
      this.#planDebt(day, this.#records);
      await this.#beginWebhooks(day);
      await this.#agenda.playUntil(dayEnd, this.#hasWebhooks ? 1 : sharedMax);
      await time.play(`sweep ${utcDay(day)}`, addMs(dayEnd, -1), async () => {
        await requests.write();
      });
      this.payments += plans.length;
    });
  }

  async #beginWebhooks(day: Date): Promise<void> {
    if (this.#hasWebhooks || day < addMs(this.#period.end, -webhookDays * dayMs)) return;
    this.#hasWebhooks = true;
    await this.#world.time.play('webhooks', day, async () => {
      await this.#webhooks.begin();
    });
    this.#add('pause', addMs(this.#period.end, -pausedHours * hourMs), () => this.#webhooks.pause());
  }

  #add(name: string, at: Date, play: () => Promise<void>, isShared = false): void {
    const story = (): Promise<void> =>
      this.#world.time.play(name, at, async () => {
        await play();
        if (this.#hasWebhooks) await this.#webhooks.deliver();
      });
    this.#agenda.add({ name, at, isShared, play: story });
  }

  #planPayment(plan: PaymentPlan): void {
    const { name, at } = plan;
    const play = async (): Promise<void> => {
      const { paid, later } = await playPayment(this.#world, plan);
      if (later) this.#add(`${name} later`, later.at, later.play);
      const { random } = this.#world.time;
      if (!paid) return;
      if (plan.isReversed) {
        this.#add(`${name} reversal`, addMs(at, 5 * hourMs), () => playReversal(this.#world, paid));
      } else if (happens(random, refundProbability)) {
        const refundedAt = addMs(at, wholeNumber(random, 20, 3_000) * minuteMs);
        this.#add(`${name} refund`, refundedAt, () => playRefund(this.#world, paid));
      }
    };
    // A share may repay what its partner owes, which two payments must not do at once.
    const isShared = plan.origin.kind !== 'api' || plan.origin.split === null;
    this.#add(name, at, play, isShared);
  }

  /** What goes out: suppliers and the owner on working days, partners on Mondays. */
  #planMorning(day: Date, records: DemoRecords): void {
    const name = utcDay(day);
    const at = (minutes: number): Date => addMs(day, 6 * hourMs + minutes * minuteMs);
    const weekday = day.getUTCDay();
    const transfer = (minutes: number, plan: TransferPlan): void =>
      this.#add(`${name} transfer ${minutes}`, at(minutes), () => playTransfer(this.#world, plan));
    if (weekday === 1) {
      // The last partner waits for its first payout.
      for (const [index, subAccount] of records.subAccounts.slice(0, 2).entries()) {
        this.#add(`${name} payout ${index}`, at(5 + index), () => playPayout(this.#world, subAccount));
      }
    }
    if (weekday === 2) transfer(12, supplier);
    if (weekday === 4) transfer(20, owner);
    // A mistyped number: the money comes back.
    if (day.getUTCDate() === 9)
      transfer(31, { ...supplier, number: `${supplier.number.slice(0, 3)}0002`, percent: 5n });
    const isLast = +addMs(day, dayMs) >= +this.#period.end;
    if (isLast) transfer(40, { ...owner, percent: 10n, isSent: false, number: `${owner.number.slice(0, 3)}0004` });
  }

  /** Once a network takes back a payment whose share was paid out: the partner owes it, and repays it from later shares. */
  #planDebt(day: Date, { subAccounts }: DemoRecords): void {
    const partner = subAccounts[1];
    if (!partner) return;
    if (utcDay(addMs(this.#period.end, -debtDaysBefore * dayMs)) !== utcDay(day)) return;
    const plan: PaymentPlan = {
      name: 'large payment',
      at: addMs(day, 18 * hourMs),
      amountMinor: 24_000n * dalasi,
      title: 'Laptops for a class',
      number: { network: 'wave', accountNumber: numberOf(17) },
      origin: {
        kind: 'api',
        customerId: null,
        split: { subAccountId: partner.id, groupId: null, paths: { subAccount: '', group: '' } },
      },
      outcome: 'paid',
      isReversed: true,
    };
    this.#add(plan.name, plan.at, async () => {
      const { paid } = await playPayment(this.#world, plan);
      if (!paid) return;
      this.#add('payout before the debt', addMs(day, 23 * hourMs), () => playPayout(this.#world, partner));
      this.#add('debt', addMs(day, 23.5 * hourMs), () => playReversal(this.#world, paid));
    });
  }
}

const supplier: TransferPlan = {
  percent: 45n,
  mostMinor: 60_000n * dalasi,
  number: numberOf(801),
  network: 'wave',
  beneficiaryName: 'Supplier of paper',
  narration: 'Paper and books',
  isSent: true,
};

const owner: TransferPlan = {
  percent: 70n,
  mostMinor: null,
  number: numberOf(802),
  network: 'afrimoney',
  beneficiaryName: 'Demo Shop',
  narration: 'To our own wallet',
  isSent: true,
};
