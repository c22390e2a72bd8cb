import { addMs, systemClock } from '../../server/src/kit/clock.ts';
import { openDatabase } from '../../server/src/kit/db.ts';
import type { Database, Statement, Transaction } from '../../server/src/kit/db.ts';
import { uuidV7 } from '../../server/src/kit/ids.ts';
import { createLog } from '../../server/src/kit/log.ts';
import { LongLists } from '../../server/src/kit/long-lists.ts';
import { SearchPlaces } from '../../server/src/kit/search-places.ts';
import { outboundPolicy } from '../../server/src/kit/outbound-guard.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import { createMerchantDirectory } from '../../server/src/merchants/merchant-directory.ts';
import { createNetworkRegistry } from '../../server/src/networks/registry.ts';
import type { PaymentContext } from '../../server/src/payments/context.ts';
import { createPayment, fromApi } from '../../server/src/payments/create-payment.ts';
import type { NewPayment } from '../../server/src/payments/create-payment.ts';

/** The statements of one creation, and the values in them that no other creation may have. */
export interface RecordedCreation {
  statements: Statement[];
  ids: string[];
  secret: string;
  token: string;
}

/** What the benchmarks create: an order of a shop, as the body of POST /v1/payments. */
export const creationBody = JSON.stringify({
  data: {
    amount: 450,
    title: 'Order 1042',
    return_url: 'https://shop.example/orders/1042',
    metadata: { order: '1042' },
  },
});

const creationRequest: NewPayment = {
  amountMinor: 45_000n,
  currency: null,
  returnUrl: 'https://shop.example/orders/1042',
  cancelUrl: null,
  callbackUrl: null,
  skipUrlValidation: false,
  network: null,
  accountNumber: null,
  title: 'Order 1042',
  description: null,
  customerId: null,
  customerName: null,
  customerEmail: null,
  customerPhone: null,
  paymentMethods: null,
  split: null,
  origin: fromApi,
  metadata: { order: '1042' },
};

const orderDelayMs = 60 * 60 * 1_000;

/** Lets the service's own use-case create an intent, and keeps the statements instead of sending them. */
export async function recordCreation(appUrl: string, merchantId: string): Promise<RecordedCreation> {
  const db = openDatabase({ url: appUrl, connectionsMax: 1, clock: systemClock, onConnectionError: () => {} });
  try {
    const ids: string[] = [];
    const context = recordingContext(db, ids);
    const merchant = await context.merchants.byId(merchantId);
    if (!merchant) throw new Error('there is no such merchant');
    const statements: Statement[] = [];
    const { intent } = await createPayment(recorder(statements), context, merchant, creationRequest);
    return { statements: statements.map(later), ids, secret: intent.intentSecret, token: intent.checkoutToken };
  } finally {
    await db.close();
  }
}

/** The order to deliver the event is due in an hour, so that no worker takes part in what the loop measures. */
function later(statement: Statement): Statement {
  if (!statement.name.startsWith('outbox')) return statement;
  const values = statement.values.map((value) => (value instanceof Date ? addMs(value, orderDelayMs) : value));
  return { ...statement, values };
}

function recorder(statements: Statement[]): Transaction {
  const refuse = (): never => {
    throw new Error('creating an intent reads from the database now; the bare loop has to do so too');
  };
  return {
    rows: refuse,
    row: refuse,
    run: refuse,
    send: (statement) => {
      statements.push(statement);
    },
    afterCommit: () => {},
  };
}

function recordingContext(db: Database, ids: string[]): PaymentContext {
  return {
    db,
    clock: systemClock,
    random: systemRandom,
    newId: () => {
      const id = uuidV7(systemClock, systemRandom);
      ids.push(id);
      return id;
    },
    wake: () => {},
    networks: createNetworkRegistry([]),
    merchants: createMerchantDirectory(db, systemClock),
    changes: { announce: () => {}, subscribe: () => () => {}, subscribeKind: () => () => {} },
    log: createLog({ level: 'silent' }),
    longLists: new LongLists(),
    searches: new SearchPlaces(),
    settings: {
      publicUrl: () => 'http://localhost:8080',
      callbackBaseUrl: () => 'http://localhost:8080',
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
