import { formatAmount, percentToJson } from '../kit/money.ts';
import { exactShare, roundedShare, type Share } from './shares.ts';

/** How a share was rounded to whole dalasi. */
export interface ShareExplanation {
  /** The share before rounding, in dalasi with all its decimals: `18.74875`. */
  exact: string;
  rounding: 'none' | 'up' | 'down' | 'minimum';
  /** How much less than rounded it is, in bututs, because the shares together exceeded the base. */
  reducedMinor: bigint;
  /** All of it in a sentence. */
  text: string;
}

/**
 * Explains a share from what is stored of it: base and percentage determine how it was rounded, and the difference to its
 * amount is the reduction.
 */
export function explainShare(baseMinor: bigint, share: Omit<Share, 'subAccountId'>): ShareExplanation {
  const exact = exactShare(baseMinor, share.percentHundredths);
  const rounded = roundedShare(baseMinor, share.percentHundredths);
  const rounding = roundingOf({ exact, rounded: rounded * unitsPerButut });
  const exactMinor = exact / unitsPerButut;
  const reducedMinor = rounded - share.amountMinor;
  const exactText = formatAmount(exactMinor) + behindBututs(exact);
  const part = `${percentToJson(share.percentHundredths)}% of ${formatAmount(baseMinor)} is ${exactText}`;
  const steps = {
    none: '',
    up: ', rounded up to ',
    down: ', rounded down to ',
    minimum: ', raised to the minimum of ',
  };
  const step = rounding === 'none' ? '' : steps[rounding] + formatAmount(rounded);
  const reduction =
    reducedMinor === 0n
      ? ''
      : `, less ${formatAmount(reducedMinor)} because the shares together were more than ${formatAmount(baseMinor)}`;
  return {
    exact: formatAmount(exactMinor, { style: 'plain' }) + behindBututs(exact),
    rounding,
    reducedMinor,
    text: `${part}${step}${reduction}.`,
  };
}

// `exactShare` counts in ten-thousandths of a butut, which are millionths of a dalasi.
const unitsPerButut = 10_000n;

function roundingOf({ exact, rounded }: { exact: bigint; rounded: bigint }): ShareExplanation['rounding'] {
  if (rounded === exact) return 'none';
  if (rounded < exact) return 'down';
  // Rounding up adds half a dalasi at most; more than that comes from the minimum.
  return 2n * (rounded - exact) > 100n * unitsPerButut ? 'minimum' : 'up';
}

/** The decimals behind the bututs, without trailing zeros. */
function behindBututs(exact: bigint): string {
  return String(exact % unitsPerButut)
    .padStart(4, '0')
    .replace(/0+$/, '');
}
