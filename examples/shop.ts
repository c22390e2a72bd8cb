/**
 * A shop that sells one book, from the order to "paid". It needs receiver.ts beside it, and no packages:
 *
 *     DALASI_SECRET_KEY=sk_test_… DALASI_WEBHOOK_SECRET=wh_… PORT=3000 "$(node launch/node-path.js)" examples/shop.ts
 *
 * Then set the endpoint's address to http://localhost:3000/events. It runs with Node 24 or newer, whose
 * path node-path.js prints.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { checkSecret, readBody, verifyStandard } from './receiver.ts';

interface Order {
  id: string;
  /** In dalasi. */
  amount: number;
  /** One for each attempt to pay, the newest last. */
  paymentIds: string[];
  isPaid: boolean;
}

interface Payment {
  payment_intent_id: string;
  payment_link: string;
  status: string;
  amount: number;
  currency: string;
}

interface ChargeEvent {
  event: string;
  data: { payment_intent_id: string; amount: number; currency: string; metadata: { order?: string } };
}

const dalasiUrl = process.env['DALASI_URL'] ?? 'http://localhost:8080';
const secretKey = process.env['DALASI_SECRET_KEY'] ?? '';
const webhookSecret = process.env['DALASI_WEBHOOK_SECRET'];

// A shop keeps its orders in a database.
const orders = new Map<string, Order>();
let shopUrl = '';

/** Throws with the sentence that says what to do, and the request's id for whoever runs the service. */
async function callDalasi(method: 'GET' | 'POST', path: string, body?: object, key?: string): Promise<Payment> {
  const response = await fetch(dalasiUrl + path, {
    method,
    headers: {
      authorization: `Bearer ${secretKey}`,
      ...(body && { 'content-type': 'application/json' }),
      ...(key && { 'idempotency-key': key }),
    },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(15_000),
  });
  const json = (await response.json()) as Payment & { message: string; request_id: string };
  if (!response.ok) throw new Error(`Dalasi answered ${response.status}: ${json.message} (${json.request_id})`);
  return json;
}

const endedUnpaid = ['failed', 'cancelled', 'expired'];

/** Returns the address of the page where the customer pays, the first time or again. Of a paid order it is the order's own. */
async function startPayment(order: Order): Promise<string> {
  const status = await checkPayment(order);
  if (order.isPaid) return `${shopUrl}/orders/${order.id}`;
  // A payment that has ended cannot be paid any more: the next attempt needs a new key.
  const isNewAttempt = order.paymentIds.length === 0 || endedUnpaid.includes(status);
  const attempt = order.paymentIds.length + (isNewAttempt ? 1 : 0);
  const data = {
    amount: order.amount,
    title: `Order ${order.id}`,
    return_url: `${shopUrl}/orders/${order.id}`,
    cancel_url: `${shopUrl}/orders/${order.id}`,
    metadata: { order: order.id },
  };
  // With the attempt's key a repetition, after a lost answer or a second click, finds the same payment.
  const payment = await callDalasi('POST', '/v1/payments', { data }, `order-${order.id}-${attempt}`);
  if (!order.paymentIds.includes(payment.payment_intent_id)) order.paymentIds.push(payment.payment_intent_id);
  return payment.payment_link;
}

/** Asks Dalasi about the order's newest payment. What stands in the address of the page is anybody's text. */
async function checkPayment(order: Order): Promise<string> {
  const newestId = order.paymentIds.at(-1);
  if (newestId === undefined) return 'requires_payment_method';
  const payment = await callDalasi('GET', `/v1/payments/${newestId}`);
  if (payment.status === 'successful') markPaid(order, payment);
  return payment.status;
}

/** What a verified event says of an order. The same event twice, or one that comes late, changes nothing more. */
function handleEvent({ event, data }: ChargeEvent): void {
  if (event !== 'charge.succeeded') return;
  const order = orders.get(data.metadata.order ?? '');
  // Of any attempt: a payment that was cancelled can still turn out to be paid.
  if (order?.paymentIds.includes(data.payment_intent_id)) markPaid(order, data);
}

function markPaid(order: Order, paid: { amount: number; currency: string }): void {
  if (order.isPaid || paid.amount !== order.amount || paid.currency !== 'GMD') return;
  order.isPaid = true;
  console.log(`paid ${order.id}`);
}

async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { pathname } = new URL(req.url ?? '/', 'http://shop');
  const [, orderId, isPayment] = /^\/orders\/([\w-]+)(\/pay)?$/.exec(pathname) ?? [];
  const order = orders.get(orderId ?? '');
  if (req.method === 'POST' && pathname === '/orders') {
    const newOrder: Order = { id: randomUUID(), amount: 450, paymentIds: [], isPaid: false };
    orders.set(newOrder.id, newOrder);
    res.writeHead(303, { location: await startPayment(newOrder) }).end();
  } else if (orderId && !order) {
    showPage(res, 404, 'There is no such order.');
  } else if (req.method === 'POST' && order && isPayment) {
    res.writeHead(303, { location: await startPayment(order) }).end();
  } else if (order) {
    const status = order.isPaid ? 'successful' : await checkPayment(order);
    const again = `<form method="post" action="/orders/${order.id}/pay"><button>Pay again</button></form>`;
    const unpaid = `Your order is not paid yet: ${status}. ${endedUnpaid.includes(status) ? again : ''}`;
    showPage(res, 200, order.isPaid ? 'Thank you, your order is paid.' : unpaid);
  } else if (req.method === 'POST' && pathname === '/events') {
    const rawBody = await readBody(req);
    const isGenuine = rawBody && verifyStandard(rawBody, req.headers, checkSecret(webhookSecret));
    if (isGenuine) handleEvent(JSON.parse(rawBody.toString('utf8')) as ChargeEvent);
    res.writeHead(isGenuine ? 204 : 401).end();
  } else {
    showPage(res, 200, '<form method="post" action="/orders"><button>Buy the book for D450</button></form>');
  }
}

function showPage(res: ServerResponse, status: number, content: string): void {
  res.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(`<!doctype html><p>${content}</p>`);
}

if (import.meta.main) {
  checkSecret(webhookSecret);
  const server = createServer((req, res) => {
    handle(req, res).catch((error: unknown) => {
      console.error(error);
      showPage(
        res,
        500,
        'Something went wrong here. If you have paid, do not pay again: open this page once more in a minute.',
      );
    });
  });
  server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
    shopUrl = process.env['SHOP_URL'] ?? `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    console.log(`Listening on ${shopUrl}`);
  });
}
