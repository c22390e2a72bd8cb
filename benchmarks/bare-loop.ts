/**
 * The cost of a request in the database: repeats the statements of its transaction straight through the driver.
 */
import pg from 'pg';
import { recordCreation } from './harness/creation-statements.ts';
import { printResult, programOptions } from './harness/program.ts';
import type { RecordedTransaction } from './harness/recording.ts';
import { recordThreeInserts } from './harness/three-inserts.ts';
import { recordTransfer } from './harness/transfer-statements.ts';
import { systemClock } from '../server/src/kit/clock.ts';
import { openDatabase } from '../server/src/kit/db.ts';

export interface BareLoopOptions {
  appUrl: string;
  request: 'creation' | 'transfer' | 'three inserts';
  /** Assigned to the connections in rotation. */
  merchantIds: string[];
  connections: number;
  seconds: number;
}

export interface BareLoopResult {
  transactionsPerSecond: number;
  /** Processor time of this process for each transaction, in microseconds. */
  processorUs: number;
}

async function bareLoop(options: BareLoopOptions): Promise<BareLoopResult> {
  const recorded = await record(options);
  const clients = await Promise.all(Array.from({ length: options.connections }, () => connect(options.appUrl)));
  const beganAt = performance.now();
  const usage = process.cpuUsage();
  const endsAt = beganAt + options.seconds * 1_000;
  let committed = 0;
  const loops = clients.map(async (client, index) => {
    const transaction = recorded[index % recorded.length];
    while (transaction !== undefined && performance.now() < endsAt) {
      await commitOnce(client, transaction);
      committed += 1;
    }
  });
  await Promise.all(loops);
  const seconds = (performance.now() - beganAt) / 1_000;
  const { user, system } = process.cpuUsage(usage);
  // The service's workers would find this work once it is due.
  await clients[0]?.query(`DELETE FROM outbox WHERE merchant_id = ANY ($1) AND (due_at > $2 OR queue = 'benchmark')`, [
    options.merchantIds,
    systemClock.now(),
  ]);
  for (const client of clients) await client.end();
  return { transactionsPerSecond: committed / seconds, processorUs: (user + system) / committed };
}

async function record({ appUrl, request, merchantIds }: BareLoopOptions): Promise<RecordedTransaction[]> {
  const db = openDatabase({ url: appUrl, connectionsMax: 1, clock: systemClock, onConnectionError: () => {} });
  try {
    const transactions: RecordedTransaction[] = [];
    for (const merchantId of merchantIds) {
      if (request === 'three inserts') transactions.push(await recordThreeInserts(appUrl, merchantId));
      else if (request === 'creation') transactions.push(await recordCreation(db, merchantId));
      else transactions.push(await recordTransfer(db, merchantId));
    }
    return transactions;
  } finally {
    await db.close();
  }
}

/** As the service connects: pipelined statements. */
async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString, pipeline: true });
  await client.connect();
  return client;
}

/**
 * The recorded statements in one transaction, with new values where a constraint wants them to differ. Where the
 * service needs a result before it continues, the loop waits for it too.
 */
async function commitOnce(client: pg.Client, { steps, freshValues: fresh }: RecordedTransaction): Promise<void> {
  const values = fresh();
  const begun = client.query('BEGIN');
  const results: Promise<unknown>[] = [];
  for (const { statement, afterResultOf } of steps) {
    if (afterResultOf !== null) await results[afterResultOf];
    const { name, text } = statement;
    results.push(client.query({ name, text, values: statement.values.map((value) => values.get(value) ?? value) }));
  }
  await Promise.all([begun, ...results, client.query('COMMIT')]);
}

printResult(await bareLoop(programOptions<BareLoopOptions>()));
