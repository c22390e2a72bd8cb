import { randomBase62 } from '../../kit/base62.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Database, Transaction } from '../../kit/db.ts';
import type { Random } from '../../kit/random.ts';
import { insertCallback } from './queries.ts';
import type { Report } from './report.ts';
import { randomIdLength } from './session.ts';
import type { Session } from './session.ts';
import { wireSession } from './wire.ts';
import type { WireReport } from './wire.ts';

/** What the simulator's functions work with. */
export interface SimulatorContext {
  db: Database;
  clock: Clock;
  random: Random;
  /** Where payers reach the simulated networks' pages, without a slash at the end. */
  publicUrl: () => string;
  /** Called once a callback has been written that is due now. */
  wakeSender: () => void;
}

/**
 * Writes reports into the transaction of the change they tell of. Reports of the same news share one event id, as a
 * network's repeated deliveries do.
 */
export function sendReports(tx: Transaction, context: SimulatorContext, session: Session, reports: Report[]): void {
  const eventIds = new Map<string, string>();
  for (const report of reports) {
    const eventId = eventIds.get(report.type) ?? `evt_${randomBase62(context.random, randomIdLength)}`;
    eventIds.set(report.type, eventId);
    const news: WireReport = {
      id: eventId,
      type: report.type,
      created_at: report.occursAt.toISOString(),
      data: wireSession(session, report.status, context.publicUrl()),
    };
    tx.send(
      insertCallback({
        account: session.account,
        sessionId: session.id,
        id: randomBase62(context.random, randomIdLength),
        url: session.callbackUrl,
        network: session.network,
        body: JSON.stringify(news),
        occursAt: report.occursAt,
        dueAt: report.dueAt,
      }),
    );
  }
  const now = context.clock.now();
  if (reports.some((report) => report.dueAt <= now)) tx.afterCommit(context.wakeSender);
}
