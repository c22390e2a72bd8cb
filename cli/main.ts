import { systemClock } from '../server/src/kit/clock.ts';
import { createInterruption } from './interruption.ts';
import { runCli } from './run-cli.ts';

// A reader such as `head` may close the pipe early; that is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await runCli(process.argv.slice(2), {
  environment: process.env,
  streams: process,
  interruption: createInterruption(systemClock),
});
