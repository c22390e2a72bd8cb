import { auditCommand } from './audit-command.ts';
import type { Command } from './command.ts';

const prepare: Command = {
  name: 'database prepare',
  usage: '',
  summary: 'Migrate the database and set up the serving role',
  details: '  A start with DATABASE_URL does the same.',
  access: 'prepared',
  async run(context) {
    const { db, role } = context;
    const object = { type: 'database', id: null };
    await db.withTransaction(async (tx) =>
      auditCommand(tx, context, { action: 'database.prepare', object, sent: { role } }),
    );
    return {
      text: `The database is migrated, and the service can connect as ${role}.`,
      data: { role },
      exitCode: 0,
    };
  },
};

export const databaseCommands: readonly Command[] = [prepare];
