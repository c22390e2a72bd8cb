import type { Interval } from './balance-history.ts';

/** A version of a record, in the order of its changes; it was committed no earlier than `fromMs`. */
export interface Version {
  state: string;
  fromMs: number;
  /** How many events the record has by then: not every change has one. */
  events: number;
}

/** What a response says of a record: its state, or how many events it has. */
export type RecordRead = Interval & ({ state: string } | { events: number });

export interface ReadEvent {
  id: string;
  /** Counts the events of one record from 1. */
  sequence: number;
}

/**
 * Whether reads of one record are linearizable: each shows a version that existed before the read ended, and none that is older
 * than what a read before it has shown. The response to a change is a read too. Returns what is wrong, or undefined.
 */
export function findRecordAnomaly(versions: readonly Version[], reads: readonly RecordRead[]): string | undefined {
  const byStart = reads.toSorted((one, other) => one.fromMs - other.fromMs);
  const shown = reads.map((read) => ({ read, index: -1 })).toSorted((one, other) => one.read.byMs - other.read.byMs);
  const entryOf = new Map(shown.map((entry) => [entry.read, entry]));
  let ended = 0;
  let oldest = 0;
  for (const read of byStart) {
    for (let entry = shown[ended]; entry && entry.read.byMs < read.fromMs; entry = shown[++ended]) {
      oldest = Math.max(oldest, entry.index);
    }
    const index = versionOf(versions, read, oldest);
    const version = versions[index];
    if (!version) return `${describe(read)} was read after ${describe(versions[oldest])} had been`;
    if (version.fromMs > read.byMs) return `${describe(read)} was read before it existed`;
    const entry = entryOf.get(read);
    if (entry) entry.index = index;
  }
  return undefined;
}

/** The oldest version that the read can have seen; -1 for none. */
function versionOf(versions: readonly Version[], read: RecordRead, oldest: number): number {
  const isSeen = ({ state, events }: Version) => ('events' in read ? events === read.events : state === read.state);
  return versions.findIndex((version, index) => index >= oldest && isSeen(version));
}

function describe(read: { state: string } | { events: number } | undefined): string {
  if (read === undefined) return 'nothing';
  return 'state' in read ? read.state : `a list of ${read.events} events`;
}

/** Whether the events of a record as read are the first of all its events, numbered without a gap. */
export function findEventAnomaly(all: readonly ReadEvent[], read: readonly ReadEvent[]): string | undefined {
  const inOrder = read.toSorted((one, other) => one.sequence - other.sequence);
  for (const [index, { sequence, id }] of inOrder.entries()) {
    if (sequence !== index + 1) return `event ${index + 1} is missing before event ${sequence}`;
    if (all[index]?.id !== id) return `event ${sequence} is another one in the end`;
  }
  return undefined;
}
