import { runCommand } from './run-command.ts';

// A signal by itself would leave running the database that a command has opened for itself; leaving in order ends it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

const { env: environment, stdout, stderr } = process;
process.exitCode = await runCommand(process.argv.slice(2), { environment, stdout, stderr });
