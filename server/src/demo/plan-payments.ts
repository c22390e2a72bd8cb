import { addMs, dayMs, utcDay } from '../kit/clock.ts';
import { dalasi } from '../kit/money.ts';
import { seededRandom, type Random } from '../kit/random.ts';
import type { PaymentLink } from '../links/payment-link.ts';
import type { SplitRequest } from '../sub-accounts/resolve-split.ts';
import type { VirtualTerminal } from '../terminals/terminal.ts';
import { busyness, timeOfDay } from './calendar.ts';
import { linkTitles, wares } from './catalogue.ts';
import { fraction, happens, oneOf, weighted, wholeNumber } from './choices.ts';
import { numberOf, type DemoRecords } from './set-up-business.ts';

export type PaymentOutcome =
  | 'paid'
  | 'declined'
  | 'too_little_money'
  | 'expired'
  | 'never_tried'
  | 'cancelled'
  | 'late'
  | 'other_amount';

export interface PaymentPlan {
  name: string;
  at: Date;
  amountMinor: bigint;
  title: string;
  number: { network: string; accountNumber: string };
  origin:
    | { kind: 'link'; link: PaymentLink }
    | { kind: 'counter'; terminal: VirtualTerminal }
    | { kind: 'api'; customerId: string | null; split: SplitRequest | null };
  outcome: PaymentOutcome;
  /** Whether the network takes it back some hours later. */
  isReversed: boolean;
}

export interface Period {
  start: Date;
  end: Date;
  payments: number;
  seed: string;
}

const outcomes: readonly (readonly [PaymentOutcome, number])[] = [
  ['paid', 885],
  ['declined', 30],
  ['too_little_money', 25],
  ['expired', 30],
  ['never_tried', 20],
  ['cancelled', 6],
  ['late', 4],
];

const networks: readonly (readonly [string, number])[] = [
  ['wave', 52],
  ['afrimoney', 22],
  ['qmoney', 15],
  ['aps', 11],
];

// A payment that begins later could not be over by now.
const lastBeginMs = 8 * 60_000;
// Money of another amount waits for a person, so only the last days have some.
const openCaseDaysBefore = [2, 5];
const reversalDaysBefore = 9;
const visitsMs = 4 * 60 * 60_000;

/** Midnight of each day of the period. */
export function daysOf({ start, end }: Pick<Period, 'start' | 'end'>): Date[] {
  const days: Date[] = [];
  for (let day = new Date(utcDay(start)); day < end; day = addMs(day, dayMs)) days.push(day);
  return days;
}

/** How many payments each day has, so that the period has about as many as it should. */
export function paymentsByDay(period: Period): number[] {
  const days = daysOf(period);
  const weights = days.map((day, index) => busyness(day, index / Math.max(1, days.length - 1)));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const random = seededRandom(`${period.seed} days`);
  return weights.map((weight) => Math.round(((weight * period.payments) / sum) * (0.85 + 0.3 * fraction(random))));
}

/** The payments of a day, in the order of their times. */
export function planDay(period: Period, day: Date, count: number, records: DemoRecords): PaymentPlan[] {
  const name = utcDay(day);
  const random = seededRandom(`${period.seed} plan ${name}`);
  const times = Array.from({ length: count }, () => timeOfDay(random, day)).toSorted((one, other) => +one - +other);
  const plans = times.map((at, index) => planPayment(random, { name: `${name} ${index}`, at, records, period }));
  const middle = plans[Math.floor(plans.length / 2)];
  const isBeforeEnd = (daysBefore: number): boolean => utcDay(addMs(period.end, -daysBefore * dayMs)) === name;
  if (middle && openCaseDaysBefore.some(isBeforeEnd)) middle.outcome = 'other_amount';
  if (middle && isBeforeEnd(reversalDaysBefore)) Object.assign(middle, { outcome: 'paid', isReversed: true });
  const isLast = +addMs(day, dayMs) >= +period.end;
  const visits = isLast ? planVisits(random, { name, day, records, period }) : [];
  const lastBegin = addMs(period.end, -lastBeginMs);
  return [...plans, ...visits].filter(({ at }) => at < lastBegin).toSorted((one, other) => +one.at - +other.at);
}

/** People at every counter in the last hours, so that each counter's screen has something to show. */
function planVisits(
  random: Random,
  { name, day, records, period }: { name: string; day: Date; records: DemoRecords; period: Period },
): PaymentPlan[] {
  const openedMs = Math.min(visitsMs, +period.end - +day) - lastBeginMs;
  return records.terminals.flatMap((terminal, counter) =>
    Array.from({ length: wholeNumber(random, 3, 7) }, (_, visit) => {
      const at = addMs(period.end, -lastBeginMs - Math.floor(fraction(random) * openedMs));
      const plan = planPayment(random, { name: `${name} visit ${counter} ${visit}`, at, records, period });
      return { ...plan, origin: { kind: 'counter', terminal }, outcome: 'paid' };
    }),
  );
}

function planPayment(
  random: Random,
  { name, at, records, period }: { name: string; at: Date; records: DemoRecords; period: Period },
): PaymentPlan {
  const customer = wholeNumber(random, 1, 2_400);
  const number = { network: weighted(random, networks), accountNumber: numberOf(customer) };
  const planned = weighted(random, outcomes);
  // Nothing may be waiting for its payer now: the simulated networks know nothing of these payments.
  const isRecent = at > addMs(period.end, -60 * 60_000);
  const outcome = isRecent && (planned === 'expired' || planned === 'late') ? 'paid' : planned;
  const source = weighted(random, [
    ['api', 50],
    ['counter', 38],
    ['link', 12],
  ]);
  const shared = { name, at, number, outcome, isReversed: false };
  if (source === 'link') {
    const link = oneOf(random, records.links);
    const amountMinor = link.amountMinor ?? BigInt(oneOf(random, [50, 100, 100, 150, 200, 500, 1_000])) * dalasi;
    return { ...shared, amountMinor, title: linkTitles[0].title, origin: { kind: 'link', link } };
  }
  const ware = weighted(
    random,
    wares.map((each) => [each, each.weight]),
  );
  const amountMinor = priceOf(random, ware);
  const { title } = ware;
  if (source === 'counter') {
    const terminal = weighted(
      random,
      records.terminals.map((each, index) => [each, 3 - index]),
    );
    return { ...shared, amountMinor, title, origin: { kind: 'counter', terminal } };
  }
  const known = happens(random, 0.45) ? (records.customers[customer % records.customers.length] ?? null) : null;
  return {
    ...shared,
    amountMinor,
    title,
    origin: { kind: 'api', customerId: known?.id ?? null, split: splitOf(random, records, amountMinor) },
  };
}

const roundings = [
  { below: 100, step: 5 },
  { below: 1_000, step: 25 },
];

/** Small amounts are likelier; people pay round sums. */
function priceOf(random: Random, { least, most }: { least: number; most: number }): bigint {
  const price = least + (most - least) * fraction(random) ** 2;
  const { step } = roundings.find(({ below }) => price < below) ?? { step: 100 };
  return BigInt(Math.max(5, Math.round(price / step) * step)) * dalasi;
}

/** Some payments are shared with a partner, a few with the group. Each share is at least a dalasi. */
function splitOf(random: Random, { subAccounts, group }: DemoRecords, amountMinor: bigint): SplitRequest | null {
  const shared = weighted(random, [
    ['nobody', 80],
    ['partner', 15],
    ['group', 5],
  ]);
  if (shared === 'nobody' || amountMinor < 100n * dalasi) return null;
  const paths = { subAccount: 'data.sub_account', group: 'data.sub_account_group' };
  if (shared === 'group') return { subAccountId: null, groupId: group.id, paths };
  return { subAccountId: oneOf(random, subAccounts).id, groupId: null, paths };
}
