import { access } from './access.ts';
import { audit } from './audit.ts';
import { faults } from './faults.ts';
import { idempotency } from './idempotency.ts';
import { input } from './input.ts';
import { load } from './load.ts';
import { money } from './money.ts';
import { operations } from './operations.ts';
import { outbound } from './outbound.ts';
import { pages } from './pages.ts';
import type { PromiseGroup } from './promise.ts';
import { secretsAndKeys } from './secrets.ts';
import { webhooks } from './webhooks.ts';

/** How many promises each letter has: one that is gone was not kept, it was deleted. */
export const promiseCounts: Readonly<Record<string, number>> = {
  M: 11,
  I: 10,
  F: 8,
  W: 9,
  V: 7,
  T: 7,
  H: 9,
  S: 6,
  K: 6,
  A: 5,
  O: 8,
  L: 4,
};

export const promiseGroups: readonly PromiseGroup[] = [
  money,
  idempotency,
  faults,
  webhooks,
  input,
  access,
  pages,
  outbound,
  secretsAndKeys,
  audit,
  operations,
  load,
];
