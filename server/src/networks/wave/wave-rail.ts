import type { Clock } from '../../kit/clock.ts';
import { formatAmount } from '../../kit/money.ts';
import { wireNumber } from '../wire-number.ts';
import type { WaveClient } from './client.ts';
import type { WaveOptions } from './options.ts';

/** What the operations of one account share. */
export interface WaveRail {
  client: WaveClient;
  clock: Clock;
  options: WaveOptions;
}

/** `450`, and `450.50` where the account takes bututs. */
export function waveAmount(amountMinor: bigint): string {
  return formatAmount(amountMinor, { style: 'plain' }).replace(/\.00$/, '');
}

export function waveNumber({ options }: Pick<WaveRail, 'options'>, number: string): string {
  return wireNumber(number, { prefix: '+220', digits: options.numberDigits });
}

/** Cutting may leave half a surrogate pair at the end, which strict JSON parsers refuse. */
export function textOfAtMost(length: number, text: string): string {
  return text.slice(0, length).toWellFormed();
}
