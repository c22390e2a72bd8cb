import { runService } from './process/run-service.ts';

// A closed output pipe (`npm start | head`, a closed terminal) must not end the service.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

// The first Ctrl-C or SIGTERM stops it, and so does closing the terminal; further ones change nothing.
const { promise: stop, resolve } = Promise.withResolvers<void>();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());

const { env: environment, stdout, stderr } = process;
const code = await runService({ environment, stdout, stderr, stop });
// Whatever still holds the process is nobody's: everything with a state has been closed.
process.exit(code);
