import { runCommand } from './run-command.ts';

// Without a handler, a signal would leave the bundled PostgreSQL running if this command has started it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

// A reader such as `head` may close the pipe early, which is no error; what the command does, it does all the same.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

const { env: environment, stdin, stdout, stderr } = process;
process.exitCode = await runCommand(process.argv.slice(2), { environment, stdin, stdout, stderr });
