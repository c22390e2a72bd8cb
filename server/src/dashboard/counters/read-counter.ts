import type { Static } from 'typebox';
import { AppError } from '../../api/app-error.ts';
import { terminalSchema } from '../../terminals/wire-schemas.ts';
import { isUuid } from '../../kit/ids.ts';
import type { StateMark } from '../../portal/patterns/texts.ts';
import { ifFound } from '../patterns/if-found.ts';
import type { Visit } from '../visit.ts';

export type Counter = Static<typeof terminalSchema>;

/** Throws AppError `not_found`, also for a counter at which a cashier does not work. */
export async function readCounter(visit: Visit, id = ''): Promise<Counter> {
  const { api, membership, may } = visit;
  const isForeign = may('counters.use').ownOnly && !membership.terminalIds.includes(id);
  if (isForeign || !isUuid(id)) {
    throw new AppError('not_found', 'There is no such counter, or it is not one of yours.');
  }
  return api.call('retrieveVirtualTerminal', terminalSchema, { params: { id } });
}

/** A cashier's own counters, without those that were deleted since. */
export async function readOwnCounters(visit: Visit): Promise<Counter[]> {
  const found = await Promise.all(visit.membership.terminalIds.map((id) => ifFound(readCounter(visit, id))));
  return found.filter((counter) => counter !== undefined);
}

/** `471 8205`, as on the poster. */
export function codeText(code: string): string {
  return `${code.slice(0, 3)} ${code.slice(3)}`;
}

export function counterMark({ active }: Pick<Counter, 'active'>): StateMark {
  return active ? { tone: 'good', icon: 'check', text: 'On' } : { tone: 'calm', icon: 'cross', text: 'Off' };
}
