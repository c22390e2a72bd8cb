import { runCommand } from './run-command.ts';

// Without a handler, a signal would leave the bundled PostgreSQL running if this command has started it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

// A reader such as `head` may close the pipe early, which is no error; what the command does, it does all the same.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.stderr.write(`The output could not be written (${error.code}); what the command does was done.\n`);
  process.exitCode = 1;
});
// Progress and warnings: nothing ends half way because nobody can read them.
process.stderr.on('error', () => {});

const { env: environment, stdin, stdout, stderr } = process;
const exitCode = await runCommand(process.argv.slice(2), { environment, stdin, stdout, stderr });
process.exitCode ??= exitCode;
