import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import type { Database, Queryable, Statement, Transaction } from '../../server/src/kit/db.ts';

/**
 * Where a process is killed: at the first step of this name, or at the first one after the step `since`.
 *
 * Steps are what a process waits for. A statement has the steps `<name>:before` and `<name>:after`; a commit has
 * `<name>:before-commit` and `<name>:after-commit` for each statement of its transaction; a call to a network or to a
 * merchant has `<call>:before`, `<call>:sent` and `<call>:responded`; a request to the process has `<request>:arrived`
 * and `<request>:responded`.
 */
export interface CrashPoint {
  step: string;
  since?: string;
  /** Only in the long run: the state is the same as at the point before. */
  long?: true;
  /** The service must kill its own process here: halting cannot stop what follows. */
  killsItself?: true;
}

/** Starts the service that kills its process, once the others in it have halted. */
export const startLastSignal = 'SIGUSR2';

/** A promise that never resolves. */
type Halted = Promise<never>;

/** Follows a service step by step. */
export interface Steps {
  /** Records a step; a commit has the names of all its statements. At the point it returns what to wait for instead. */
  reach(...steps: string[]): Halted | undefined;
  readonly haveEnded: boolean;
}

/** Lets the service run until the point, then calls `onEnd` and halts everything. */
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

/** The same database, with a step before and after everything that a caller awaits. */
export function watchDatabase(db: Database, steps: Steps): Database {
  return {
    ...watchQueryable(db, steps),
    withTransaction: async (body, cause) => {
      const result = await db.withTransaction(async (tx) => {
        const names = new Set<string>();
        const stepsOf = (moment: string) => [...names].map((name) => `${name}:${moment}`);
        // Registered first, so that it runs ahead of the service's own after-commit actions.
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
    memory: tx.memory,
    ...watchQueryable(tx, steps, (name) => names.add(name)),
    // The caller does not await what it sends; the commit does.
    send: (statement) => {
      names.add(statement.name);
      tx.send(statement);
    },
    beforeCommit: (action) => tx.beforeCommit((last) => action(watchTransaction(last, names, steps))),
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
    // No `await` unless it halts: statements keep their order.
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

/** Workers poll again and again; only a claim that returns rows is a step. */
function isEmptyClaim(name: string, result: unknown): boolean {
  return /_(claim|take)(_|$)/.test(name) && Array.isArray(result) && result.length === 0;
}

/**
 * HTTP steps, outgoing and incoming, from the diagnostics channels of Node and undici. Ports tell several services in
 * one process apart: the one that each listens on, and those that it calls.
 */
export function watchHttp(stepsAt: (port: number) => Steps | undefined): void {
  const calls: Record<string, string> = {
    'undici:request:create': 'before',
    'undici:request:bodySent': 'sent',
    'undici:request:trailers': 'responded',
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
    'http.server.response.finish': 'responded',
  };
  for (const [channel, moment] of Object.entries(requests)) {
    subscribe(channel, (message) => {
      const { method, url = '', socket } = (message as { request: IncomingMessage }).request;
      void stepsAt(socket.localPort ?? 0)?.reach(`${method} ${routeOf(url)}:${moment}`);
    });
  }
}

/** The path with `:id` for ids and tokens, which differ from world to world. */
function routeOf(url: string): string {
  const [path = ''] = url.split('?');
  return path.replaceAll(/(?<=\/)(?=[^/]*\d)[^/]{12,}/g, ':id');
}

/** What each kind of call of the real APIs has in its path. */
const kindsOfPaths = [
  ['collections', /\/merchantpay$|\/checkout\/sessions|\/payin$/],
  ['refunds', /\/reversals$/],
  ['payouts', /\/disbursement$|\/payout/],
] as const;

/** `payouts-call` starts a payout, `look-up` looks it up; a call to no network goes to a merchant. */
function callName({ method, path }: { method: string; path: string }): string {
  if (!path.startsWith('/simulator/networks/')) return 'webhook-call';
  if (method === 'GET') return 'look-up';
  const [kind = 'other'] = kindsOfPaths.find(([, form]) => form.test(path)) ?? [];
  return `${kind}-call`;
}
