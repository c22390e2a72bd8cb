import { withAdminClient } from '../database/admin-client.ts';
import { distribute, readClusterStatus, readOwnSession } from '../database/cluster/distribute.ts';
import { StartError } from '../kit/start-error.ts';
import { auditCommand } from './audit-command.ts';
import type { Command, CommandContext } from './command.ts';
import { createProgress, type Progress } from './progress.ts';

const distributeCommand: Command = {
  name: 'cluster distribute',
  usage: '',
  summary: 'Distribute the tables over the nodes of a cluster',
  details:
    '  DATABASE_URL names the coordinator, where the Citus extension is installed. Stop every process of the service first.\n' +
    '  An interrupted run is continued by the next. Run it again after each upgrade.',
  access: 'prepared',
  async run(context) {
    const { db, role, progressTo } = context;
    const written = (action: string, sent = {}): Promise<void> =>
      db.withTransaction(async (tx) =>
        auditCommand(tx, context, { action, object: { type: 'database', id: null }, sent }),
      );
    let progress: Progress | null = null;
    const onStep = (done: number, total: number): void => {
      progress ??= createProgress(progressTo, { total, what: 'steps' });
      progress.show(done);
    };
    // Nothing has asked for two connections at once, so this is the only one.
    const ownSession = await readOwnSession(db);
    const done = await withAdminClient(ownerUrl(context), (client) =>
      // Before: a run that ends half-way has moved tables too.
      distribute(client, { servingRole: role, ownSession, onBegin: () => written('cluster.distribute'), onStep }),
    );
    (progress as Progress | null)?.end();
    await written('cluster.result', { tables: done.tables });
    const text = `The tables are where they belong: ${done.tables} were distributed now, ${done.foreignKeys} foreign keys added.`;
    return { text, data: { tables: done.tables, foreign_keys: done.foreignKeys }, exitCode: 0 };
  },
};

const status: Command = {
  name: 'cluster status',
  usage: '',
  summary: 'Show the nodes of a cluster, and whether the tables are where they belong',
  details: '  Exit code 1 when a node does not answer, may lose committed rows, or tables are not distributed.',
  access: 'prepared',
  async run(context) {
    const found = await withAdminClient(ownerUrl(context), readClusterStatus);
    const isOk = found.problems.length === 0;
    const nodes = found.nodes.map(({ name, port, problem }) => `${name}:${port}  ${problem ?? 'ok'}`);
    return {
      text: [...nodes, ...(isOk ? ['Every table is where it belongs.'] : found.problems)].join('\n'),
      data: {
        ok: isOk,
        nodes: found.nodes.map(({ name, port, problem, values }) => ({ name, port, problem, settings: values })),
        not_distributed: found.missing.map(({ table }) => table),
        misplaced: found.misplaced,
        foreign_keys_dropped: found.foreignKeysDropped,
        problems: found.problems,
      },
      exitCode: isOk ? 0 : 1,
    };
  },
};

function ownerUrl({ adminUrl }: CommandContext): string {
  if (adminUrl !== null) return adminUrl;
  throw new StartError('Set DATABASE_URL to the coordinator, as the owner of the tables.');
}

export const clusterCommands: readonly Command[] = [distributeCommand, status];
