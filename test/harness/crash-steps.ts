import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import type { Database, Queryable, Statement, Transaction } from '../../server/src/kit/db.ts';

/**
 * Where a process ends: at the first step of this name, or at the first one after the step `since`.
 *
 * Steps are what a process waits for. A statement that it waits for is `<name>:before` and `<name>:after`; a commit is
 * `<name>:before-commit` and `<name>:after-commit` for each statement of its transaction; a call to a network or to a
 * merchant is `<call>:before`, `<call>:sent` and `<call>:answered`; a request to it is `<request>:arrived` and
 * `<request>:answered`.
 */
export interface CrashPoint {
  at: string;
  since?: string;
  /** Only in the long run: what is stored and sent by then is the same as at the point before. */
  long?: true;
}

/** Hears of each step as it is reached; a commit comes with the names of all its statements. */
type Reach = (...steps: string[]) => void;

/** Ends this process as `kill -9` does, once the point is reached. */
export function dieAt({ at, since }: CrashPoint): Reach {
  let isArmed = since === undefined;
  return (...steps) => {
    if (isArmed && steps.includes(at)) process.kill(process.pid, 'SIGKILL');
    if (since !== undefined && steps.includes(since)) isArmed = true;
  };
}

/** The same database, with a step before and after everything that is waited for. */
export function watchDatabase(db: Database, reach: Reach): Database {
  return {
    ...watchQueryable(db, reach),
    withTransaction: (body) =>
      db.withTransaction(async (tx) => {
        const names = new Set<string>();
        const steps = (moment: string) => [...names].map((name) => `${name}:${moment}`);
        // First, so that nothing that follows the commit has happened yet.
        tx.afterCommit(() => reach(...steps('after-commit')));
        const result = await body(watchTransaction(tx, names, reach));
        reach(...steps('before-commit'));
        return result;
      }),
    dedicatedClient: () => db.dedicatedClient(),
    get waiting() {
      return db.waiting;
    },
    close: () => db.close(),
  };
}

function watchTransaction(tx: Transaction, names: Set<string>, reach: Reach): Transaction {
  return {
    ...watchQueryable(tx, reach, (name) => names.add(name)),
    // Nobody waits for what is sent: its commit does.
    send: (statement) => {
      names.add(statement.name);
      tx.send(statement);
    },
    afterCommit: (action) => tx.afterCommit(action),
  };
}

function watchQueryable(db: Queryable, reach: Reach, note: (name: string) => void = () => {}): Queryable {
  const around = async <Result>({ name }: Statement, run: () => Promise<Result>): Promise<Result> => {
    note(name);
    reach(`${name}:before`);
    const result = await run();
    if (!isEmptyClaim(name, result)) reach(`${name}:after`);
    return result;
  };
  return {
    rows: <Row>(statement: Statement) => around(statement, () => db.rows<Row>(statement)),
    row: <Row>(statement: Statement) => around(statement, () => db.row<Row>(statement)),
    run: (statement) => around(statement, () => db.run(statement)),
  };
}

/** Workers look for work again and again; only a claim that got some leads anywhere. */
function isEmptyClaim(name: string, result: unknown): boolean {
  return /_(claim|take)(_|$)/.test(name) && Array.isArray(result) && result.length === 0;
}

/** Steps of HTTP, out and in, as Node and its client tell of them by themselves. */
export function watchHttp(reach: Reach): void {
  const calls: Record<string, string> = {
    'undici:request:create': 'before',
    'undici:request:bodySent': 'sent',
    'undici:request:trailers': 'answered',
  };
  for (const [channel, moment] of Object.entries(calls)) {
    subscribe(channel, (message) => {
      const { request } = message as { request: { method: string; path: string } };
      reach(`${callName(request)}:${moment}`);
    });
  }
  const requests: Record<string, string> = {
    'http.server.request.start': 'arrived',
    'http.server.response.finish': 'answered',
  };
  for (const [channel, moment] of Object.entries(requests)) {
    subscribe(channel, (message) => {
      const { method, url = '' } = (message as { request: IncomingMessage }).request;
      reach(`${method} ${url.split('?')[0]}:${moment}`);
    });
  }
}

/** `payouts-call` starts one at a network, `payouts-look-up` asks for it; what goes to no network goes to a merchant. */
function callName({ method, path }: { method: string; path: string }): string {
  const [, kind] = /^\/simulator\/networks\/\w+\/(\w+)/.exec(path) ?? [];
  if (kind === undefined) return 'webhook-call';
  return method === 'POST' ? `${kind}-call` : `${kind}-look-up`;
}
