/**
 * What creating an intent costs the database: the statements of that transaction, straight through the driver in a bare
 * loop, with nothing around them.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { recordCreation } from './harness/creation-statements.ts';
import type { RecordedCreation } from './harness/creation-statements.ts';
import { answerProgram, programOptions } from './harness/program.ts';
import { uuidV7 } from '../server/src/kit/ids.ts';
import { systemClock } from '../server/src/kit/clock.ts';
import { systemRandom } from '../server/src/kit/random.ts';

export interface BareLoopOptions {
  appUrl: string;
  merchantId: string;
  connections: number;
  seconds: number;
}

export interface BareLoopResult {
  transactionsPerSecond: number;
  /** Processor time of this process for each transaction, in microseconds. */
  processorUs: number;
}

async function bareLoop(options: BareLoopOptions): Promise<BareLoopResult> {
  const creation = await recordCreation(options.appUrl, options.merchantId);
  const clients = await Promise.all(Array.from({ length: options.connections }, () => connect(options.appUrl)));
  const beganAt = performance.now();
  const usage = process.cpuUsage();
  const endsAt = beganAt + options.seconds * 1_000;
  let committed = 0;
  const loops = clients.map(async (client) => {
    while (performance.now() < endsAt) {
      await createOnce(client, creation);
      committed += 1;
    }
  });
  await Promise.all(loops);
  const seconds = (performance.now() - beganAt) / 1_000;
  const { user, system } = process.cpuUsage(usage);
  // The service's workers would find these orders once they are due.
  await clients[0]?.query('DELETE FROM outbox WHERE merchant_id = $1 AND due_at > $2', [
    options.merchantId,
    systemClock.now(),
  ]);
  for (const client of clients) await client.end();
  return { transactionsPerSecond: committed / seconds, processorUs: (user + system) / committed };
}

/** As the service connects: statements travel without waiting for each other's answers. */
async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString, pipeline: true });
  await client.connect();
  return client;
}

/** The recorded statements in one transaction, with new values where a constraint wants them to differ. */
async function createOnce(client: pg.Client, { statements, ids, secret, token }: RecordedCreation): Promise<void> {
  const random = randomBytes(43).toString('hex');
  const fresh = new Map<unknown, string>(ids.map((id) => [id, uuidV7(systemClock, systemRandom)]));
  fresh.set(secret, random.slice(0, secret.length));
  fresh.set(token, token.slice(0, 8) + random.slice(secret.length, secret.length + token.length - 8));
  const sent = [client.query('BEGIN')];
  for (const { name, text, values } of statements) {
    sent.push(client.query({ name, text, values: values.map((value) => fresh.get(value) ?? value) }));
  }
  sent.push(client.query('COMMIT'));
  await Promise.all(sent);
}

answerProgram(await bareLoop(programOptions<BareLoopOptions>()));
