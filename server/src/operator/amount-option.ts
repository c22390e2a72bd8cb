import { UsageError, type CommandInput } from '../kit/command-line.ts';
import { parseHundredths } from '../kit/money.ts';

// Far above any real amount, and far below the limit of the column.
const amountMaxMinor = 100_000_000_000_000n;

/** The amount of an option in bututs; undefined without the option. Throws UsageError for a malformed amount. */
export function readAmount({ options }: CommandInput, name: string): bigint | undefined {
  const text = options[name];
  if (text === undefined) return undefined;
  const minor = parseHundredths(text);
  if (minor === undefined || minor > amountMaxMinor) {
    throw new UsageError(`--${name} is an amount in dalasi with at most two decimals, such as 5 or 2.50, not ${text}.`);
  }
  return minor;
}
