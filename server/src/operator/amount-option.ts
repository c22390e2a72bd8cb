import { UsageError } from '../kit/command-line.ts';
import type { CommandInput } from '../kit/command-line.ts';
import { parseHundredths } from '../kit/money.ts';

// Far above every amount there is, and far below what a column holds.
const amountMaxMinor = 100_000_000_000_000n;

/** The bututs of an option in dalasi, or undefined when it was not given. Throws UsageError for every other text. */
export function readAmount({ options }: CommandInput, name: string): bigint | undefined {
  const text = options[name];
  if (text === undefined) return undefined;
  const minor = parseHundredths(text);
  if (minor === undefined || minor > amountMaxMinor) {
    throw new UsageError(`--${name} is an amount in dalasi with at most two decimals, like 5 or 2.50, not ${text}.`);
  }
  return minor;
}
