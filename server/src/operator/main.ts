import { runCommand } from './run-command.ts';

// Without a handler, a signal would leave the bundled PostgreSQL running if this command has started it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

const { env: environment, stdin, stdout, stderr } = process;
process.exitCode = await runCommand(process.argv.slice(2), { environment, stdin, stdout, stderr });
