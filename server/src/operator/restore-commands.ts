import { findHeldRestore, heldText, insertRestore, releaseRestores } from '../backups/hold.ts';
import { UsageError } from '../kit/command-line.ts';
import { listMerchants } from '../merchants/manage-keys.ts';
import { lookUpUnsentTransfers } from '../transfers/look-up-first.ts';
import { auditCommand } from './audit-command.ts';
import type { Command } from './command.ts';

const installation = { type: 'database', id: null } as const;

const hold: Command = {
  name: 'restore hold',
  usage: '',
  summary: 'Mark a database that another program restored as a copy, which does no work',
  details:
    '  Run it before the first start on the copy, after: database prepare\n  "backup restore" does it by itself.',
  async run(context) {
    const { db, clock, onboarding } = context;
    const known = await findHeldRestore(db);
    if (known === undefined) {
      const restore = { id: onboarding.newId(), backup: null, restoredAt: clock.now(), restoredTo: null };
      await db.withTransaction(async (tx) => {
        tx.send(insertRestore(restore));
        auditCommand(tx, context, { action: 'restore.hold', object: installation, sent: {} });
      });
    }
    return { text: `${heldText(known ?? { restoredTo: null })}.`, data: { held: true }, exitCode: 0 };
  },
};

const release: Command = {
  name: 'restore release',
  usage: '',
  summary: 'Let a restored copy do its work, after you have compared it with the networks',
  details:
    '  Stop the original for good first, and reconcile the time since the backup\n  (docs/operations.md, "Before you release a copy"). Payouts that the copy has not sent\n  are looked up at their networks before any is sent.',
  async run(context) {
    const { db, clock } = context;
    if ((await findHeldRestore(db)) === undefined) throw new UsageError('This database is not held.');
    const money = await context.moneyWork();
    const entry = { object: installation, sent: {} };
    // Before the first of them: an interrupted release has changed payouts too.
    await db.withTransaction(async (tx) => auditCommand(tx, context, { action: 'restore.look_up', ...entry }));
    let transfers = 0;
    for (const { id } of await listMerchants(db)) transfers += await lookUpUnsentTransfers(money, id);
    await db.withTransaction(async (tx) => {
      tx.send(releaseRestores(clock.now()));
      auditCommand(tx, context, { action: 'restore.release', ...entry, sent: { transfers } });
    });
    const text = `Released: the workers begin within seconds. ${transfers === 1 ? '1 payout is' : `${transfers} payouts are`} looked up first.`;
    return { text, data: { held: false, transfers_looked_up: transfers }, exitCode: 0 };
  },
};

export const restoreCommands: readonly Command[] = [hold, release];
