import type { Merchant, MerchantRateLimits } from './merchant.ts';

type RatedMerchant = Pick<Merchant, 'testMode'> & MerchantRateLimits;

/** The server's settings for merchants without limits of their own. */
export interface RateLimitSettings {
  rateLimitLive: number;
  rateLimitTest: number;
  rateLimitKeyPercent: number;
  rateLimitPages: number;
}

/** A rate limit of a merchant: its name for operators, its field, and the setting that applies without it. */
export interface RateLimitKind {
  name: 'requests' | 'key-percent' | 'pages';
  field: keyof MerchantRateLimits;
  /** Whether `none` removes the limit. */
  canBeNone: boolean;
  max: number;
  unit: string;
  setting: (merchant: Pick<Merchant, 'testMode'>) => { name: string; field: keyof RateLimitSettings };
}

const ratesMax = 100_000;

export const rateLimitKinds: readonly RateLimitKind[] = [
  {
    name: 'requests',
    field: 'rateLimitPerSecond',
    canBeNone: true,
    max: ratesMax,
    unit: 'requests a second',
    setting: ({ testMode }) =>
      testMode
        ? { name: 'RATE_LIMIT_TEST', field: 'rateLimitTest' }
        : { name: 'RATE_LIMIT_LIVE', field: 'rateLimitLive' },
  },
  {
    name: 'key-percent',
    field: 'rateLimitKeyPercent',
    canBeNone: false,
    max: 100,
    unit: 'percent for each key',
    setting: () => ({ name: 'RATE_LIMIT_KEY_PERCENT', field: 'rateLimitKeyPercent' }),
  },
  {
    name: 'pages',
    field: 'rateLimitPages',
    canBeNone: true,
    max: ratesMax,
    unit: 'payments a second from each page',
    setting: () => ({ name: 'RATE_LIMIT_PAGES', field: 'rateLimitPages' }),
  },
];

/** What holds for a merchant, by itself or by the server's settings; 0 is no limit. */
export function rateOf(kind: RateLimitKind, merchant: RatedMerchant, settings: RateLimitSettings): bigint {
  return merchant[kind.field] ?? BigInt(settings[kind.setting(merchant).field]);
}

/** `25 requests a second`. */
export function rateText({ unit }: RateLimitKind, rate: bigint): string {
  return rate === 0n ? 'no limit' : `${rate} ${unit}`;
}

/** A whole number from 1, or 0 for `none`; undefined for anything else. */
export function parseRate({ canBeNone, max }: RateLimitKind, text: string): bigint | undefined {
  if (canBeNone && text === 'none') return 0n;
  const rate = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  return rate >= 1 && rate <= max ? BigInt(rate) : undefined;
}
