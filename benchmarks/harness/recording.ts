import { SharedCommits } from '../../server/src/kit/shared-commits.ts';
import { addMs, systemClock } from '../../server/src/kit/clock.ts';
import type { Database, Statement, Transaction } from '../../server/src/kit/db.ts';
import { uuidV7 } from '../../server/src/kit/ids.ts';
import { createServiceLog } from '../../server/src/api/service-log.ts';
import { ListReader } from '../../server/src/api/list-reader.ts';
import { outboundPolicy } from '../../server/src/api/urls.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import { createMerchantDirectory } from '../../server/src/merchants/merchant-directory.ts';
import { BreakerCopy } from '../../server/src/networks/payout-breakers.ts';
import { createNetworkRegistry } from '../../server/src/networks/registry.ts';
import { createTestConnectors } from '../../server/src/networks/test-connectors.ts';
import type { PaymentContext } from '../../server/src/payments/context.ts';
import type { TransferContext } from '../../server/src/transfers/context.ts';

/** The statements that the service sends in one transaction, to be repeated without the service. */
export interface RecordedTransaction {
  steps: RecordedStep[];
  /** New values for unique ones, by the recorded value. Called for each repetition. */
  freshValues: () => Map<unknown, string>;
}

export interface RecordedStep {
  statement: Statement;
  /** The service sent it after the result of the step with this index; null: without waiting. */
  afterResultOf: number | null;
}

const workDelayMs = 60 * 60 * 1_000;

/** Records the statements of a use case and executes them. */
export function recorder(tx: Transaction, steps: RecordedStep[]): Transaction {
  let lastAwaited: number | null = null;
  const note = (statement: Statement): number => {
    const afterResultOf = lastAwaited;
    lastAwaited = null;
    return steps.push({ statement: postponed(statement), afterResultOf }) - 1;
  };
  const record = async <Result>(statement: Statement, execute: () => Promise<Result>): Promise<Result> => {
    const number = note(statement);
    const result = await execute();
    lastAwaited = number;
    return result;
  };
  return {
    requestId: tx.requestId,
    memory: tx.memory,
    rows: (statement) => record(statement, () => tx.rows(statement)),
    row: (statement) => record(statement, () => tx.row(statement)),
    run: (statement) => record(statement, () => tx.run(statement)),
    send: (statement) => {
      note(statement);
      tx.send(statement);
    },
    beforeCommit: (action) => tx.beforeCommit((last) => action(recorder(last, steps))),
    afterCommit: () => {},
  };
}

/** Work is due in an hour, so that no worker takes part in the measurement. */
function postponed(statement: Statement): Statement {
  if (!statement.name.startsWith('outbox')) return statement;
  const values = statement.values.map((value) => (value instanceof Date ? addMs(value, workDelayMs) : value));
  return { ...statement, values };
}

/** A new id for each of these. */
export function freshIds(ids: readonly string[]): Map<unknown, string> {
  return new Map<unknown, string>(ids.map((id) => [id, uuidV7(systemClock, systemRandom)]));
}

/** The context of the service's use cases. It records the generated ids and notifies no worker. */
export function recordingContext(db: Database, ids: string[]): PaymentContext & TransferContext {
  const baseUrl = () => 'http://localhost:8080';
  const connectors = createTestConnectors({
    baseUrl,
    callbackSecret: 'benchmark',
    bearerSecret: 'benchmark',
    clock: systemClock,
  });
  return {
    db,
    sharedCommits: new SharedCommits(db, { aloneMax: 1 }),
    clock: systemClock,
    random: systemRandom,
    newId: () => {
      const id = uuidV7(systemClock, systemRandom);
      ids.push(id);
      return id;
    },
    notifyWorker: () => {},
    // The merchant has no endpoint.
    planDeliveries: () => {},
    networks: createNetworkRegistry(connectors),
    merchants: createMerchantDirectory(db, systemClock),
    breakers: new BreakerCopy(),
    transferOwners: {},
    changes: { notify: () => {}, subscribe: () => () => {}, subscribeKind: () => () => {} },
    log: createServiceLog({ level: 'silent' }),
    lists: new ListReader(db),
    settings: {
      publicUrl: baseUrl,
      callbackBaseUrl: baseUrl,
      intentLifetimeMs: 30 * 60 * 1_000,
      settlementDelayMs: 0,
      amountMinMinor: 100n,
      amountMaxMinor: 100_000_000n,
      idSecret: 'benchmark',
      terminalKey: 'benchmark',
      urlPolicy: (testMode) => outboundPolicy({ production: false, testMode }),
    },
  };
}
