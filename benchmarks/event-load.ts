/**
 * Commits changes at a steady rate, each with its event as in the service, and reports the time of each commit. Several
 * loads can run side by side: the measured ones, and one that disturbs them.
 */
import { openChanges } from './harness/changes.ts';
import { printResult, programOptions } from './harness/program.ts';
import { atRate } from './harness/load-rate.ts';
import { createCustomer } from '../server/src/customers/manage-customers.ts';
import type { EventContext } from '../server/src/events/append-event.ts';
import type { Transaction } from '../server/src/kit/db.ts';

export interface EventLoadOptions {
  appUrl: string;
  /**
   * Not reported: a process that has just started creates its first events slowly, and notifies workers late.
   */
  warmUpSeconds: number;
  seconds: number;
  loads: EventLoad[];
}

interface EventLoad {
  /** Used in rotation. */
  merchantIds: string[];
  perSecond: number;
  /** Default: 1. More cost the machine less, where only the number of events matters. */
  eventsPerCommit?: number;
}

export interface EventLoadResult {
  /** For each load, by the id of the event's object, in milliseconds of the wall clock. */
  committedAtMs: Record<string, number>[];
}

// For one load. One that commits too slowly shows in its number of events.
const connectionsPerLoad = 8;
// About the size of a shop's metadata.
const metadata = { order: 'KB-2026-000481', basket: 'exercise books, 12; ballpoint pens, 3', branch: 'Kairaba Avenue' };

async function eventLoad({ appUrl, warmUpSeconds, seconds, loads }: EventLoadOptions): Promise<EventLoadResult> {
  const { db, context, close } = await openChanges(appUrl, connectionsPerLoad * loads.length);
  const reportedFrom = performance.now() + warmUpSeconds * 1_000;
  const committedAtMs = await Promise.all(
    loads.map(async ({ merchantIds, perSecond, eventsPerCommit = 1 }) => {
      const committed: Record<string, number> = {};
      let begun = 0;
      const rate = {
        perSecond: perSecond / eventsPerCommit,
        seconds: warmUpSeconds + seconds,
        concurrencyMax: connectionsPerLoad,
      };
      await atRate(rate, async () => {
        const merchantId = merchantIds[begun % merchantIds.length] ?? '';
        begun += 1;
        const ids = await db.withTransaction(async (tx) => {
          const made: string[] = [];
          while (made.length < eventsPerCommit) made.push(await makeCustomer(tx, context, merchantId));
          return made;
        });
        const atMs = performance.timeOrigin + performance.now();
        if (performance.now() >= reportedFrom) for (const id of ids) committed[id] = atMs;
      });
      return committed;
    }),
  );
  await close();
  return { committedAtMs };
}

async function makeCustomer(tx: Transaction, context: EventContext, merchantId: string): Promise<string> {
  const request = { name: 'Awa Ceesay', email: null, phone: null, metadata, distinct: false };
  const { customer } = await createCustomer(tx, context, { merchantId, testMode: true }, request);
  return customer.id;
}

printResult(await eventLoad(programOptions<EventLoadOptions>()));
