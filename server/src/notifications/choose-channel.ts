import type { Queryable } from '../kit/db.ts';
import type { Channel } from './channel.ts';
import type { NumberState } from './notice.ts';
import { listNumberStates } from './queries.ts';

export type Choice =
  /** The state is undefined before the first message to the number. */
  | { channel: Channel; state: NumberState | undefined }
  /** `failed` where a channel has said that the number cannot be reached, else there is none for it. */
  | { channel: null; status: 'failed' | 'dropped'; reason: string };

/**
 * The first channel that reaches the number and has not stopped it. A stop holds until the counter is saved again:
 * whoever changes its numbers has put right what was wrong, or wants to see.
 */
export async function chooseChannel(
  db: Queryable,
  channels: readonly Channel[],
  target: { number: string; terminalUpdatedAt: Date },
): Promise<Choice> {
  if (channels.length === 0) {
    return { channel: null, status: 'dropped', reason: 'No chat channel is set up on this server.' };
  }
  const names = channels.map(({ name }) => name);
  const states = await listNumberStates(db, target.number, names);
  let stoppedReason: string | null = null;
  for (const channel of channels) {
    const state = states.find((found) => found.channel === channel.name);
    if (state && isStopped(state, target.terminalUpdatedAt)) stoppedReason ??= state.stoppedReason;
    else if (await channel.reaches(target.number)) return { channel, state };
  }
  if (stoppedReason !== null) return { channel: null, status: 'failed', reason: stoppedReason };
  return { channel: null, status: 'dropped', reason: 'No chat channel of this server reaches this number.' };
}

function isStopped({ stoppedAt }: NumberState, terminalUpdatedAt: Date): boolean {
  return stoppedAt !== null && stoppedAt >= terminalUpdatedAt;
}
