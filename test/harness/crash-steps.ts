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
  step: string;
  since?: string;
  /** Only in the long run: what is stored and sent by then is the same as at the point before. */
  long?: true;
  /** Only the process itself can end here: nothing else keeps what follows from happening. */
  isAlone?: true;
}

/** A promise that nobody keeps. */
type Halted = Promise<never>;

/** What a service has come to, step by step. */
export interface Steps {
  /** A commit comes with the names of all its statements. Answers what to wait for instead of going on, at the point. */
  reach(...steps: string[]): Halted | undefined;
  readonly haveEnded: boolean;
}

/** Goes on until the point is reached, calls `onEnd` and lets nothing go on after it. */
export function stepsUntil(point: CrashPoint, onEnd: () => void): Steps {
  let isArmed = point.since === undefined;
  let haveEnded = false;
  const never = new Promise<never>(() => {});
  return {
    reach: (...steps) => {
      if (!haveEnded && isArmed && steps.includes(point.step)) {
        haveEnded = true;
        onEnd();
      }
      if (point.since !== undefined && steps.includes(point.since)) isArmed = true;
      return haveEnded ? never : undefined;
    },
    get haveEnded() {
      return haveEnded;
    },
  };
}

/** The same database, with a step before and after everything that is waited for. */
export function watchDatabase(db: Database, steps: Steps): Database {
  return {
    ...watchQueryable(db, steps),
    withTransaction: async (body, cause) => {
      const result = await db.withTransaction(async (tx) => {
        const names = new Set<string>();
        const stepsOf = (moment: string) => [...names].map((name) => `${name}:${moment}`);
        // First, so that nothing that follows the commit has happened yet.
        tx.afterCommit(() => void steps.reach(...stepsOf('after-commit')));
        const prepared = await body(watchTransaction(tx, names, steps));
        await steps.reach(...stepsOf('before-commit'));
        return prepared;
      }, cause);
      await steps.reach();
      return result;
    },
    dedicatedClient: () => db.dedicatedClient(),
    get waiting() {
      return db.waiting;
    },
    close: () => db.close(),
  };
}

function watchTransaction(tx: Transaction, names: Set<string>, steps: Steps): Transaction {
  return {
    requestId: tx.requestId,
    ...watchQueryable(tx, steps, (name) => names.add(name)),
    // Nobody waits for what is sent: its commit does.
    send: (statement) => {
      names.add(statement.name);
      tx.send(statement);
    },
    afterCommit: (action) =>
      tx.afterCommit(() => {
        if (!steps.haveEnded) action();
      }),
  };
}

function watchQueryable(db: Queryable, steps: Steps, note: (name: string) => void = () => {}): Queryable {
  const around = async <Result>({ name }: Statement, run: () => Promise<Result>): Promise<Result> => {
    note(name);
    const end = steps.reach(`${name}:before`);
    // Not waited for where it goes on: statements keep the order in which they were asked for.
    if (end) return end;
    const result = await run();
    return (isEmptyClaim(name, result) ? steps.reach() : steps.reach(`${name}:after`)) ?? result;
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

/**
 * Steps of HTTP, out and in, as Node and its client tell of them by themselves. Several services in one process are told
 * apart by port: the one they listen on, and those that they call.
 */
export function watchHttp(stepsAt: (port: number) => Steps | undefined): void {
  const calls: Record<string, string> = {
    'undici:request:create': 'before',
    'undici:request:bodySent': 'sent',
    'undici:request:trailers': 'answered',
  };
  for (const [channel, moment] of Object.entries(calls)) {
    subscribe(channel, (message) => {
      const { request } = message as { request: { origin: string; method: string; path: string } };
      const port = Number(new URL(request.origin).port);
      void stepsAt(port)?.reach(`${callName(request)}:${moment}`);
    });
  }
  const requests: Record<string, string> = {
    'http.server.request.start': 'arrived',
    'http.server.response.finish': 'answered',
  };
  for (const [channel, moment] of Object.entries(requests)) {
    subscribe(channel, (message) => {
      const { method, url = '', socket } = (message as { request: IncomingMessage }).request;
      void stepsAt(socket.localPort ?? 0)?.reach(`${method} ${url.split('?')[0]}:${moment}`);
    });
  }
}

/** `payouts-call` starts one at a network, `payouts-look-up` asks for it; what goes to no network goes to a merchant. */
function callName({ method, path }: { method: string; path: string }): string {
  const [, kind] = /^\/simulator\/networks\/\w+\/(\w+)/.exec(path) ?? [];
  if (kind === undefined) return 'webhook-call';
  return method === 'POST' ? `${kind}-call` : `${kind}-look-up`;
}
