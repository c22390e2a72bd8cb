import { BoundedMap } from '../kit/bounded-map.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import type { Endpoint } from './endpoint.ts';
import { backlogMax, listEndpointHealth, type HealthNote, type HealthRow } from './queries/endpoint-health.ts';
import { isSuccess } from './retry-schedule.ts';
import type { Outcome } from './send-delivery.ts';

// Nobody needs the last success to the second, and a row that each batch writes would be the busiest of all.
const repeatAfterMs = 10_000;
const endpointsMax = 10_000;

interface WrittenHealth {
  isFailing: boolean;
  lastFailure: string | null;
  writtenAtMs: number;
}

/** Finds what a batch of outcomes changes of the endpoints' health. */
export class HealthNotes {
  readonly #clock: Clock;
  /** As this process wrote it last. Another process may have written since; the next note here overwrites that. */
  readonly #written = new BoundedMap<string, WrittenHealth>(endpointsMax);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns a note for each endpoint whose health has changed, or was written long ago. */
  selectChanged(outcomes: readonly Outcome[]): HealthNote[] {
    const nowMs = this.#clock.now().getTime();
    const recovered = new Set(outcomes.filter(isRecovery).map(({ claimed }) => claimed.target.id));
    return healthOf(outcomes).filter((note) => {
      const written = this.#written.get(note.endpointId);
      return (
        written === undefined ||
        recovered.has(note.endpointId) ||
        written.isFailing !== (note.failingSince !== null) ||
        (note.failingSince !== null && written.lastFailure !== note.lastFailure) ||
        nowMs - written.writtenAtMs >= repeatAfterMs
      );
    });
  }

  /** To be called once the notes are committed. */
  noteWritten(notes: readonly HealthNote[]): void {
    const writtenAtMs = this.#clock.now().getTime();
    for (const { endpointId, failingSince, lastFailure } of notes) {
      this.#written.set(endpointId, { isFailing: failingSince !== null, lastFailure, writtenAtMs });
    }
  }
}

/** An earlier attempt failed, maybe in another process, which wrote that: without this note it might stay for ever. */
function isRecovery({ claimed, attempt }: Outcome): boolean {
  return claimed.delivery.attempt > 1n && isSuccess(attempt.result);
}

/** Responses from callback URLs say nothing about the endpoint that signs for them. */
function healthOf(outcomes: readonly Outcome[]): HealthNote[] {
  const notes = new Map<string, HealthNote>();
  const own = outcomes.filter(({ claimed }) => claimed.delivery.callbackUrl === null);
  for (const { claimed, attempt } of own.toSorted(compareEnds)) {
    const { id: endpointId } = claimed.target;
    const { endedAt, result } = attempt;
    const earlier = notes.get(endpointId) ?? { endpointId, lastSuccessAt: null, failingSince: null, lastFailure: null };
    if (isSuccess(result)) notes.set(endpointId, { ...earlier, lastSuccessAt: endedAt, failingSince: null });
    else {
      const lastFailure = result.kind === 'answered' ? String(result.status) : result.failure;
      notes.set(endpointId, { ...earlier, failingSince: earlier.failingSince ?? endedAt, lastFailure });
    }
  }
  return [...notes.values()];
}

function compareEnds(one: Outcome, other: Outcome): number {
  return one.attempt.endedAt.getTime() - other.attempt.endedAt.getTime();
}

/** The health of a merchant's endpoints as the API returns it, by endpoint id. */
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
