import type { Database, Statement } from './db.ts';
import { isDatabaseAway } from './db-errors.ts';
import { manyRowsMax, rowsOfEach, sharedPart } from './many-rows.ts';

interface Requested {
  statement: Statement;
  /** Sends it by itself. */
  alone: () => Promise<unknown>;
  /** What it returns, from its rows of a statement for many. */
  read: (rows: unknown[]) => unknown;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/**
 * A database that sends single statements for many rows together: those of the same turn, and those that arrive while one is
 * under way. One that comes alone is sent as it is. Transactions are not affected.
 */
export class GatheringDatabase implements Database {
  readonly #db: Database;
  /** By what a statement for many rows shares, while one is under way. */
  readonly #waiting = new Map<string, Requested[]>();
  #splitCount = 0;

  constructor(db: Database) {
    this.#db = db;
  }

  rows<Row>(statement: Statement): Promise<Row[]> {
    const alone = () => this.#db.rows<Row>(statement);
    return statement.many ? this.#request(statement, alone, (rows) => rows as Row[]) : alone();
  }

  row<Row>(statement: Statement): Promise<Row | undefined> {
    const alone = () => this.#db.row<Row>(statement);
    return statement.many ? this.#request(statement, alone, ([row]) => row as Row | undefined) : alone();
  }

  run(statement: Statement): Promise<number> {
    const alone = () => this.#db.run(statement);
    return statement.many ? this.#request(statement, alone, (rows) => rows.length) : alone();
  }

  withTransaction: Database['withTransaction'] = (body, cause) => this.#db.withTransaction(body, cause);
  dedicatedClient: Database['dedicatedClient'] = () => this.#db.dedicatedClient();
  close: Database['close'] = () => this.#db.close();

  /** How often statements that were sent as one failed, and were sent again apart. */
  get splits(): number {
    return this.#splitCount;
  }

  get waiting(): number {
    return this.#db.waiting;
  }

  #request<Result>(
    statement: Statement,
    alone: () => Promise<Result>,
    read: (rows: unknown[]) => Result,
  ): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const requested = { statement, alone, read, resolve: resolve as Requested['resolve'], reject };
    const key = sharedPart(statement);
    const waiting = this.#waiting.get(key);
    if (waiting) waiting.push(requested);
    else {
      this.#waiting.set(key, [requested]);
      // After everything that this turn of the event loop asks.
      process.nextTick(() => void this.#sendAll(key));
    }
    return promise;
  }

  async #sendAll(key: string): Promise<void> {
    const waiting = this.#waiting.get(key) ?? [];
    while (waiting.length > 0) await this.#send(takeBatch(waiting));
    this.#waiting.delete(key);
  }

  async #send(batch: readonly Requested[]): Promise<void> {
    const [first] = batch;
    if (!first || batch.length === 1) return first && sendAlone(first);
    try {
      const results = await rowsOfEach(
        this.#db,
        batch.map(({ statement }) => statement),
      );
      for (const [index, { resolve, read }] of batch.entries()) resolve(read(results[index] ?? []));
    } catch (error) {
      // A single statement that failed has changed nothing, unless its answer was lost.
      if (isDatabaseAway(error)) {
        for (const { reject } of batch) reject(error);
        return;
      }
      this.#splitCount += 1;
      for (const requested of batch) await sendAlone(requested);
    }
  }
}

function sendAlone({ alone, resolve, reject }: Requested): Promise<void> {
  return alone().then(resolve, reject);
}

/** Takes statements about different rows; another one about the same row is sent after the first. */
function takeBatch(waiting: Requested[]): Requested[] {
  const keys = new Set<string>();
  const batch: Requested[] = [];
  const rest: Requested[] = [];
  for (const requested of waiting) {
    const key = requested.statement.many?.key ?? '';
    if (batch.length === manyRowsMax || keys.has(key)) rest.push(requested);
    else batch.push(requested);
    keys.add(key);
  }
  waiting.splice(0, waiting.length, ...rest);
  return batch;
}
