import type { Command } from './command.ts';

const prepare: Command = {
  name: 'database prepare',
  usage: '',
  summary: 'Migrate the database and put the serving role in order, as a start with DATABASE_URL does',
  options: {},
  positionals: 0,
  access: 'prepared',
  async run({ role }) {
    return {
      text: `The database is at the newest migration, and the service can connect as ${role}.`,
      data: { role },
      exitCode: 0,
    };
  },
};

export const databaseCommands: readonly Command[] = [prepare];
