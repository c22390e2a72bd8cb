import { AppError } from '../../server/src/kit/app-error.ts';
import type { PhoneAction } from '../transitions.ts';
import type { PhoneFloat } from '../payouts/arrival.ts';

/** What was tapped on the simulated phone. */
export type Tap =
  | { on: 'prompt'; sessionId: string; action: PhoneAction }
  | { on: 'float'; account: string; network: string; state: PhoneFloat['state'] };

const promptActions: readonly PhoneAction[] = ['approve', 'decline', 'approve_late', 'reverse'];
const floatActions: ReadonlyMap<unknown, PhoneFloat['state']> = new Map([
  ['fill_float', 'filled'],
  ['empty_float', 'empty'],
]);

/** Throws AppError for what no button of ours says. */
export function readTap(body: unknown): Tap {
  const fields = (body ?? {}) as Record<string, unknown>;
  const action = promptActions.find((candidate) => candidate === fields['action']);
  if (action !== undefined) return { on: 'prompt', action, sessionId: textOf(fields['session']) };
  const state = floatActions.get(fields['action']);
  if (state === undefined) throw new AppError('invalid_request', 'Tap one of the buttons of the phone.');
  return { on: 'float', state, account: textOf(fields['account']), network: textOf(fields['network']) };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
