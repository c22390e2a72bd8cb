import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import type { Endpoint } from './endpoint.ts';
import { backlogMax, listEndpointHealth } from './queries/endpoint-health.ts';
import type { HealthNote, HealthRow } from './queries/endpoint-health.ts';
import { isSuccess } from './retry-schedule.ts';
import type { Outcome } from './send-delivery.ts';

// Nobody needs to know the last success to the second, and a row that each batch writes would be the busiest of all.
const repeatAfterMs = 10_000;
const endpointsMax = 10_000;

interface Known {
  isFailing: boolean;
  lastFailure: string | null;
  writtenAtMs: number;
}

/** What a batch of outcomes says of the endpoints' health, and what of it has to be written down. */
export class HealthNotes {
  readonly #clock: Clock;
  /** As this process wrote it last; another one may have written since, and this one's next note is written over it. */
  readonly #known = new Map<string, Known>();

  constructor({ clock }: { clock: Clock }) {
    this.#clock = clock;
  }

  /** One note for each endpoint whose health has changed, or was written long ago. */
  worthWriting(outcomes: readonly Outcome[]): HealthNote[] {
    const nowMs = this.#clock.now().getTime();
    const recovered = new Set(outcomes.filter(isRecovery).map(({ claimed }) => claimed.target.id));
    return healthOf(outcomes).filter((note) => {
      const known = this.#known.get(note.endpointId);
      return (
        known === undefined ||
        recovered.has(note.endpointId) ||
        known.isFailing !== (note.failingSince !== null) ||
        (note.failingSince !== null && known.lastFailure !== note.lastFailure) ||
        nowMs - known.writtenAtMs >= repeatAfterMs
      );
    });
  }

  /** Once they are committed. */
  noteWritten(notes: readonly HealthNote[]): void {
    if (this.#known.size >= endpointsMax) this.#known.clear();
    const writtenAtMs = this.#clock.now().getTime();
    for (const { endpointId, failingSince, lastFailure } of notes) {
      this.#known.set(endpointId, { isFailing: failingSince !== null, lastFailure, writtenAtMs });
    }
  }
}

/** An attempt before it has failed, and another process may have written that. Nobody may come later to end it. */
function isRecovery({ claimed, attempt }: Outcome): boolean {
  return claimed.delivery.attempt > 1n && isSuccess(attempt.result);
}

/** What callback addresses answer says nothing of the endpoint that signs for them. */
function healthOf(outcomes: readonly Outcome[]): HealthNote[] {
  const notes = new Map<string, HealthNote>();
  const own = outcomes.filter(({ claimed }) => claimed.delivery.callbackUrl === null);
  for (const { claimed, attempt } of own.toSorted((one, other) => compareEnds(one, other))) {
    const { id: endpointId } = claimed.target;
    const { endedAt, result } = attempt;
    const before = notes.get(endpointId) ?? { endpointId, lastSuccessAt: null, failingSince: null, lastFailure: null };
    if (isSuccess(result)) notes.set(endpointId, { ...before, lastSuccessAt: endedAt, failingSince: null });
    else {
      const lastFailure = result.kind === 'answered' ? String(result.status) : result.failure;
      notes.set(endpointId, { ...before, failingSince: before.failingSince ?? endedAt, lastFailure });
    }
  }
  return [...notes.values()];
}

function compareEnds(one: Outcome, other: Outcome): number {
  return one.attempt.endedAt.getTime() - other.attempt.endedAt.getTime();
}

/** How each of a merchant's endpoints is doing, in the form of the wire, by its id. */
export async function readEndpointHealth(
  db: Queryable,
  merchantId: string,
  endpoints: readonly Pick<Endpoint, 'id'>[],
): Promise<ReadonlyMap<string, unknown>> {
  if (endpoints.length === 0) return new Map();
  const ids = endpoints.map(({ id }) => id);
  const rows = await listEndpointHealth(db, merchantId, ids);
  return new Map(rows.map((row) => [row.endpointId, healthToWire(row)]));
}

function healthToWire(row: HealthRow) {
  const isCapped = row.pending > backlogMax || row.kept + row.failed > backlogMax;
  return {
    last_success_at: row.lastSuccessAt?.toISOString() ?? null,
    failing_since: row.failingSince?.toISOString() ?? null,
    last_failure: row.lastFailure,
    pending: Math.min(Number(row.pending), backlogMax),
    kept: Math.min(Number(row.kept), backlogMax),
    failed: Math.min(Number(row.failed), backlogMax),
    ...(isCapped ? { counts_are_capped: true } : {}),
  };
}
