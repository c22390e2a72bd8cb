import { fieldError } from '../api/app-error.ts';
import { assert } from '../kit/assert.ts';
import { dalasi, formatAmount, multiplyPercent, wholePercent } from '../kit/money.ts';

// How a payment is shared (docs/splits.md, "How much a share is"). All numbers are whole: bututs, hundredths of a percent,
// and their product, ten-thousandths of a butut, which represents a share exactly before it is rounded.

/** A sub-account that gets a percentage of a payment. */
export interface SplitMember {
  subAccountId: string;
  percentHundredths: bigint;
}

/** A share as it is fixed on a payment; always whole dalasi, at least one. */
export interface Share extends SplitMember {
  amountMinor: bigint;
}

export interface Split {
  /** One for each member, in the members' order. */
  shares: Share[];
  /** The rest, which may have bututs. */
  merchantMinor: bigint;
}

/** Every share is at least 1 GMD (docs/splits.md, "How much a share is"). */
const shareMin = dalasi;

/** The base of the percentages: the amount less a fee that the business pays, else the full amount. */
export function shareBase(payment: {
  amountMinor: bigint;
  feeMinor: bigint;
  feePayer: 'business' | 'customer';
}): bigint {
  return payment.feePayer === 'business' ? payment.amountMinor - payment.feeMinor : payment.amountMinor;
}

/**
 * Shares `baseMinor` among the members, whose percentages sum to at most 100: shares and rest sum to the base. Throws
 * AppError `split_exceeds_amount` naming `path`, the amount's field, where the base is less than 1 GMD for each member.
 */
export function splitShares(request: { baseMinor: bigint; members: readonly SplitMember[]; path: string }): Split {
  const { baseMinor, members } = request;
  assert(baseMinor >= 0n, 'the base of a split is not negative');
  const percents = members.map(({ percentHundredths }) => percentHundredths);
  assert(
    percents.every((percent) => percent > 0n),
    'every member of a split has a percentage above 0',
  );
  assert(sum(percents) <= wholePercent, 'the percentages of a split sum to at most 100');
  const minimumsMinor = shareMin * BigInt(members.length);
  if (minimumsMinor > baseMinor) throw tooSmall({ ...request, minimumsMinor });
  const shares = members.map((member) => ({
    ...member,
    amountMinor: roundedShare(baseMinor, member.percentHundredths),
  }));
  fitIntoBase(baseMinor, shares);
  return { shares, merchantMinor: baseMinor - sum(shares.map(({ amountMinor }) => amountMinor)) };
}

/** Rounded once to whole dalasi, halves up, and raised to the minimum. */
export function roundedShare(baseMinor: bigint, percentHundredths: bigint): bigint {
  const rounded = multiplyPercent(baseMinor, percentHundredths, 'half-up-to-whole');
  return rounded < shareMin ? shareMin : rounded;
}

/** A share before any rounding, in ten-thousandths of a butut. */
export function exactShare(baseMinor: bigint, percentHundredths: bigint): bigint {
  return baseMinor * percentHundredths;
}

/**
 * While the shares exceed the base, reduces them one dalasi at a time: each time the share furthest above its exact amount
 * (of several, the last). A share at the minimum is never reduced, whether it was rounded or reduced to it.
 *
 * It ends because the minimums fit into the base, after fewer dalasi than there are members: rounding and minimum add less
 * than a dalasi to each share.
 */
function fitIntoBase(baseMinor: bigint, shares: Share[]): void {
  let excessMinor = sum(shares.map(({ amountMinor }) => amountMinor)) - baseMinor;
  while (excessMinor > 0n) {
    findFurthestAbove(baseMinor, shares).amountMinor -= dalasi;
    excessMinor -= dalasi;
  }
}

function findFurthestAbove(baseMinor: bigint, shares: readonly Share[]): Share {
  let furthest: { share: Share; aboveExact: bigint } | undefined;
  for (const share of shares) {
    if (share.amountMinor <= shareMin) continue;
    const aboveExact = share.amountMinor * wholePercent - exactShare(baseMinor, share.percentHundredths);
    if (furthest === undefined || aboveExact >= furthest.aboveExact) furthest = { share, aboveExact };
  }
  assert(furthest, 'shares that exceed a base of at least their minimums include one above the minimum');
  return furthest.share;
}

function tooSmall(split: { baseMinor: bigint; members: readonly SplitMember[]; path: string; minimumsMinor: bigint }) {
  const { length } = split.members;
  const needed =
    length === 1
      ? `The share is at least ${formatAmount(split.minimumsMinor)}`
      : `The ${length} shares are at least ${formatAmount(shareMin)} each, ${formatAmount(split.minimumsMinor)} together`;
  const message = `${needed}, but there are only ${formatAmount(split.baseMinor)} to share. Ask for more.`;
  return fieldError('split_exceeds_amount', split.path, message);
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}
