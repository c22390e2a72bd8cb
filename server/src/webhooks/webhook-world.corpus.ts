import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createTestDatabase } from '../../../test/harness/database.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import { appendEvent } from '../events/append-event.ts';
import type { NewEvent } from '../events/event.ts';
import type { Database, Queryable, Statement, Transaction } from '../kit/db.ts';
import { uuidV7 } from '../kit/ids.ts';
import { KeyedRunner } from '../kit/keyed-runner.ts';
import { ListReader } from '../api/list-reader.ts';
import { createServiceLog } from '../api/service-log.ts';
import { outboundPolicy } from '../api/urls.ts';
import { createOutboundClient } from '../kit/outbound-http.ts';
import { seededRandom } from '../kit/random.ts';
import { createSealer } from '../kit/seal.ts';
import { createMember } from '../accounts/create-member.ts';
import type { Grant } from '../accounts/team.ts';
import { sendMail } from '../mail/mail.ts';
import { createBusiness } from '../merchants/create-business.ts';
import { createMerchantDirectory } from '../merchants/merchant-directory.ts';
import { BatchQueue } from '../worker/batch-queue.ts';
import type { WebhookContext } from './context.ts';
import { createDeliveryQueue } from './delivery-queue.ts';
import {
  createDefaultEndpoint,
  createEndpoint,
  deleteEndpoint,
  updateEndpoint,
  type EndpointChange,
  type NewEndpoint,
} from './manage-endpoints.ts';
import type { Endpoint } from './endpoint.ts';
import { DeliveryPlanner } from './delivery-planner.ts';
import { createFirstAttempts } from './first-attempts.ts';
import { createEndpointMails } from './endpoint-mails.ts';
import { createBulkResendLimiter } from './resend-events.ts';

/** A database, a merchant with its default endpoint, a receiver and a clock that stands still. */
export type WebhookWorld = Awaited<ReturnType<typeof createWebhookWorld>>;

export async function createWebhookWorld() {
  const database = await createTestDatabase();
  const clock = new ManualClock();
  const random = seededRandom('webhooks');
  const db = openTestDatabase(database);
  const outbound = createOutboundClient({ clock, policy: { allowPrivate: true }, userAgent: 'Dalasi webhooks' });
  const logged: string[] = [];
  const scheduled: string[] = [];
  const newId = () => uuidV7(clock, random);
  const planner = new DeliveryPlanner({
    ...{ clock, newId, notifyWorker: () => {} },
    scheduleDeliveries: (keys) => worker.scheduleDeliveries(keys),
    notifyEndpoints: (merchantId) => planner.forget(merchantId),
  });
  const mails = {
    ...{ db, clock, newId },
    sealer: createSealer(Buffer.from(random.bytes(32)).toString('base64')),
    log: createServiceLog({ level: 'info', write: (line) => logged.push(line) }),
  };
  const context: WebhookContext = {
    ...mails,
    random,
    planner,
    planDeliveries: (tx, event) => planner.plan(tx, event),
    mailTrouble: createEndpointMails({
      sendMail: (tx, mail) => sendMail(tx, mails, mail),
      publicUrl: () => 'https://pay.example.gm',
      operatorEmail: 'operator@example.gm',
      merchants: createMerchantDirectory(db, clock),
    }),
    outbound,
    urlPolicy: (testMode) => outboundPolicy({ production: false, testMode }),
    signatureHeader: 'x-service-signature',
    lists: new ListReader(db),
    bulkResends: createBulkResendLimiter(),
    observeAttempt: () => {},
    scheduleDeliveries: (keys) => scheduled.push(...keys),
    notifyWorker: () => {},
  };
  const worker = createDeliveryWorker(context);
  const change = <Result>(body: (tx: Transaction) => Promise<Result>): Promise<Result> => db.withTransaction(body);
  const merchant = await change((tx) => createBusiness(tx, context, { name: 'Shop' }));
  const { businessId } = merchant.test;
  const grant: Grant = { role: 'owner', terminalIds: [] };
  await change((tx) =>
    createMember(tx, context, { email: 'awa@example.gm', name: 'Awa', passwordHash: '', businessId, grant }),
  );
  const caller = { merchantId: merchant.test.id, testMode: true };
  const defaultEndpoint = await change(async (tx) => createDefaultEndpoint(tx, context, caller.merchantId));
  const receiver = await startReceiver();
  return {
    context,
    clock,
    db,
    change,
    caller,
    liveMerchantId: merchant.live.id,
    planner,
    /** What mails are sent with. */
    mails,
    defaultEndpoint,
    receiver,
    logged,
    /** The endpoint queues that were scheduled after a commit while no worker was delivering. */
    scheduled,
    worker,
    createEndpoint: (request: NewEndpoint): Promise<{ endpoint: Endpoint; secret: string }> =>
      change((tx) => createEndpoint(tx, context, caller, request)),
    append: (event: Partial<NewEvent> = {}) => appendTestEvent(context, caller.merchantId, event),
    close: async () => {
      await receiver.close();
      await outbound.close();
      await db.close();
      await database.drop();
    },
  };
}

/** Works deliveries as a worker does, of one merchant at a time. */
export function createDeliveryWorker(context: WebhookContext) {
  const queue = createDeliveryQueue(context);
  /** Keys being worked, each with a promise of its end. */
  const active = new Map<string, PromiseWithResolvers<void>>();
  const delivering = new Set<string>();
  let isStopped = false;
  let failure: Error | null = null;
  const activate = (key: string): void => {
    if (!active.has(key)) active.set(key, Promise.withResolvers());
  };
  const onIdle = (key: string): void => {
    queue.onIdle(key);
    active.get(key)?.resolve();
    active.delete(key);
  };
  const batches = new BatchQueue({ ...queue, onIdle }, { ...queue, clock: context.clock, claimMin: 1 });
  const runner = new KeyedRunner(async (key) => {
    if (isStopped) return;
    activate(key);
    await batches.run(key).catch((error: unknown) => {
      failure = error as Error;
    });
  }, 8);
  const schedule = (key: string): void => runner.schedule(key);
  batches.attach(schedule);
  const isOf = (merchantId: string) => (key: string) => key.startsWith(`${merchantId}/`);
  const dueKeys = async (merchantId: string) => (await queue.listDueKeys()).filter(isOf(merchantId));
  const scheduleDeliveries: WebhookContext['scheduleDeliveries'] = (keys) => {
    for (const key of keys) {
      if ([...delivering].some((merchantId) => isOf(merchantId)(key))) schedule(key);
      else context.scheduleDeliveries([key]);
    }
  };
  return {
    scheduleDeliveries,
    listDueKeys: queue.listDueKeys,
    schedule,
    firstAttempts: createFirstAttempts(context, batches),
    isIdle: () => batches.isIdle,
    /** Resolves when nothing is due for the merchant and nothing under way. */
    deliver: async (merchantId: string): Promise<void> => {
      delivering.add(merchantId);
      while (!isStopped) {
        const due = await dueKeys(merchantId);
        if (isStopped) break;
        for (const key of due) {
          // At once: a key that waits until the runner has room for it is awaited too.
          activate(key);
          schedule(key);
        }
        const keys = [...active.keys()].filter(isOf(merchantId));
        if (keys.length === 0) break;
        for (const key of keys) await active.get(key)?.promise;
        if (failure) throw failure;
      }
      delivering.delete(merchantId);
    },
    stop: async (): Promise<void> => {
      isStopped = true;
      runner.clearWaiting();
      batches.stop();
      await batches.idle();
      for (const key of active.keys()) onIdle(key);
    },
  };
}

export type DeliveryWorld = Awaited<ReturnType<typeof createDeliveryWorld>>;

/** The same with helpers for tests of deliveries. */
export async function createDeliveryWorld() {
  const world = await createWebhookWorld();
  const { context, caller, receiver } = world;
  const inUse = new Set<string>();
  let pathsUsed = 0;
  /** Deletes the endpoint, so that it receives nothing of the next test. */
  const retire = async (id: string): Promise<void> => {
    await world.change((tx) => deleteEndpoint(tx, context, caller, id));
    inUse.delete(id);
  };
  const deliveryOf = async (eventId: string, endpointId?: string): Promise<DeliveryRow> => {
    const rows = (await listDeliveries(world)).filter(
      (row) => row.eventId === eventId && (endpointId === undefined || row.endpointId === endpointId),
    );
    const [row] = rows;
    if (row === undefined || rows.length > 1) throw new Error(`the event has ${rows.length} deliveries, not one`);
    return row;
  };
  return {
    ...world,
    retire,
    retireAll: async (): Promise<void> => {
      for (const id of inUse) await retire(id);
    },
    /** An endpoint at a path of its own. */
    endpointAt: async (respond?: (response: ServerResponse) => void) => {
      pathsUsed += 1;
      const path = `/hook/${pathsUsed}`;
      if (respond) receiver.respond(path, respond);
      const { endpoint, secret } = await world.createEndpoint({ url: receiver.url(path) });
      inUse.add(endpoint.id);
      return { path, secret, id: endpoint.id, received: () => receiver.to(path) };
    },
    /** Another business with an endpoint at a path of its own. */
    newMerchant: async (respond?: (response: ServerResponse) => void) => {
      pathsUsed += 1;
      const path = `/hook/${pathsUsed}`;
      if (respond) receiver.respond(path, respond);
      const merchantId = await world.change(async (tx) => {
        const { test } = await createBusiness(tx, context, { name: 'Another shop' });
        createDefaultEndpoint(tx, context, test.id);
        await createEndpoint(tx, context, { merchantId: test.id, testMode: true }, { url: receiver.url(path) });
        return test.id;
      });
      return {
        merchantId,
        path,
        received: () => receiver.to(path),
        append: () => appendTestEvent(context, merchantId, {}),
        deliver: (): Promise<void> => world.worker.deliver(merchantId),
      };
    },
    deliver: (): Promise<void> => world.worker.deliver(caller.merchantId),
    deliveryOf,
    attemptsOf: async (eventId: string): Promise<AttemptRow[]> => listAttempts(world, (await deliveryOf(eventId)).id),
    changeEndpoint: (id: string, change: EndpointChange) =>
      world.change((tx) => updateEndpoint(tx, context, caller, { id, change })),
  };
}

export function answering(status: number, headers: Record<string, string> = {}) {
  return (response: ServerResponse): void => {
    response.writeHead(status, headers).end(`status ${status}`);
  };
}

/** Writes an event as the payments do, and returns its id. */
async function appendTestEvent(context: WebhookContext, merchantId: string, event: Partial<NewEvent>): Promise<string> {
  const { db, newId } = context;
  const objectId = newId();
  const eventId = newId();
  await db.withTransaction(async (tx) => {
    appendEvent(
      tx,
      { ...context, newId: () => eventId },
      {
        merchantId,
        kind: 'charge.succeeded',
        objectId,
        sequence: 1n,
        record: { id: objectId, amount: 10.5, customer_name: 'Ŋ "Ceesay" 🙂' },
        callbackUrl: null,
        ...event,
      },
    );
  });
  return eventId;
}

export interface DeliveryRow {
  id: string;
  eventId: string;
  endpointId: string;
  callbackUrl: string | null;
  status: string;
  attempts: bigint;
  nextAttemptAt: Date | null;
  deliveredAt: Date | null;
}

export function listDeliveries({ db, caller }: Pick<WebhookWorld, 'db' | 'caller'>): Promise<DeliveryRow[]> {
  return db.rows<DeliveryRow>({
    name: 'test_deliveries',
    text: `SELECT id, event_id AS "eventId", endpoint_id AS "endpointId", callback_url AS "callbackUrl", status, attempts,
                  next_attempt_at AS "nextAttemptAt", delivered_at AS "deliveredAt"
           FROM webhook_deliveries WHERE merchant_id = $1 ORDER BY id`,
    values: [caller.merchantId],
  });
}

export interface AttemptRow {
  attempt: bigint;
  statusCode: bigint | null;
  failure: string | null;
  response: string;
  createdAt: Date;
}

export function listAttempts(
  { db, caller }: Pick<WebhookWorld, 'db' | 'caller'>,
  deliveryId: string,
): Promise<AttemptRow[]> {
  return db.rows<AttemptRow>({
    name: 'test_attempts',
    text: `SELECT attempt, status_code AS "statusCode", failure, response, created_at AS "createdAt"
           FROM webhook_attempts WHERE merchant_id = $1 AND delivery_id = $2 ORDER BY attempt`,
    values: [caller.merchantId, deliveryId],
  });
}

interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** A real HTTP server that stores its requests; its response is set by path, by default 200. */
export async function startReceiver() {
  const received: Received[] = [];
  const responses = new Map<string, (response: ServerResponse) => void>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = request.url ?? '';
      received.push({ path, headers: request.headers, body: Buffer.concat(chunks) });
      const respond = responses.get(path) ?? ((plain: ServerResponse) => plain.writeHead(200).end('ok'));
      respond(response);
    });
  });
  // The client closes idle connections: if both ends did, a request would sometimes meet a reset connection.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    received,
    url: (path: string): string => origin + path,
    respond: (path: string, respond: (response: ServerResponse) => void): void => {
      responses.set(path, respond);
    },
    respondWith: (path: string, status: number, headers: Record<string, string> = {}): void => {
      responses.set(path, (response) => response.writeHead(status, headers).end(`status ${status}`));
    },
    to: (path: string): Received[] => received.filter((request) => request.path === path),
    close: async (): Promise<void> => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The same database, with a count of each statement. */
export function countStatements(db: Database): { db: Database; of: (name: string) => number } {
  const counts = new Map<string, number>();
  const counted = (statement: Statement): Statement => {
    counts.set(statement.name, (counts.get(statement.name) ?? 0) + 1);
    return statement;
  };
  const counting = (inner: Queryable): Queryable => ({
    rows: (statement) => inner.rows(counted(statement)),
    row: (statement) => inner.row(counted(statement)),
    run: (statement) => inner.run(counted(statement)),
  });
  const watched: Database = {
    ...counting(db),
    withTransaction: (body) =>
      db.withTransaction((tx) =>
        body({
          ...counting(tx),
          requestId: tx.requestId,
          memory: tx.memory,
          send: (statement) => tx.send(counted(statement)),
          beforeCommit: (action) => tx.beforeCommit(action),
          afterCommit: (action) => tx.afterCommit(action),
        }),
      ),
    dedicatedClient: () => db.dedicatedClient(),
    waiting: 0,
    close: () => db.close(),
  };
  return { db: watched, of: (name) => counts.get(name) ?? 0 };
}
