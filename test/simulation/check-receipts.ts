import { transactionKeyOf } from '../../server/src/receipts/receipt.ts';
import type { World } from './world.ts';

interface DirectPayment {
  id: string;
  intentId: string;
  path: string;
  status: string;
  createdAt: Date;
  amountMinor: bigint;
  transactionId: string | null;
  received: bigint;
  bookings: bigint;
  /** By the statement's contradiction. */
  reversed: bigint;
  /** What the ledger has of its refunds, and what they sum to. */
  refunded: bigint;
  ofRefunds: bigint;
}

// `server/src/payments/typed-id.ts`: a message may be as much older than the payment.
const slackMs = 2 * 60_000;

/**
 * What was sent to the shop's own number has paid one payment at most, each payment that it has paid is booked once and for exactly that
 * amount, what the statement contradicts is taken back, and no more is refunded than is left. Who alone has typed the id of what was sent
 * for a payment has paid it; where several have, nobody is forgotten. What a person has decided at a page has been paid, and stands in the
 * audit log once.
 */
export async function checkReceipts(world: World): Promise<string | null> {
  const { room, receiptPayers, operators, till } = world;
  const payments = await listDirectPayments(room);
  const owners = new Map<string, DirectPayment>();
  for (const payment of payments.filter(({ bookings }) => bookings > 0n)) {
    const key = transactionKeyOf(payment.transactionId ?? '') ?? '';
    const [money, other] = [till.find(key), owners.get(key)];
    const problem = problemOf(payment, { money, other });
    if (problem !== null) return `receipts: payment ${payment.id} ${problem}`;
    owners.set(key, payment);
  }
  const contested = await listContested(room);
  for (const { path, key } of receiptPayers.typed) {
    const [money, payment] = [till.find(key), payments.find((one) => one.path === path)];
    const others = receiptPayers.typed.filter((one) => one.key === key && one.path !== path);
    if (!payment || payment.bookings > 0n || !money || owners.has(key) || operators.matchedKeys.has(key)) continue;
    if (others.length > 0 && contested.has(key)) continue;
    if (!isToBePaid({ payment, money }) || isReplaced(receiptPayers.typed, { path, key })) continue;
    return `receipts: ${key} was typed for ${payment.id}, and has paid nothing`;
  }
  return checkDecided(world, payments);
}

/** What the page of a decision has led to is so, and each decision that has paid stands in the audit log once. */
async function checkDecided({ room, dashboard }: World, payments: readonly DirectPayment[]): Promise<string | null> {
  const text = `SELECT receipts.id, intent_id AS "intentId" FROM receipts
    JOIN charges ON charges.merchant_id = receipts.merchant_id AND charges.id = charge_id`;
  const { rows } = await room.shared.database.asOwner<{ id: string; intentId: string }>(text);
  for (const { path, location } of dashboard?.pressed ?? []) {
    const [, receiptId] = /\/receipts\/([0-9a-f-]{36})\/match$/.exec(path) ?? [];
    const [, intentId] = /\/payments\/([0-9a-f-]{36})$/.exec(location ?? '') ?? [];
    if (receiptId === undefined || intentId === undefined) continue;
    if (!rows.some((row) => row.id === receiptId && row.intentId === intentId))
      return `receipts: receipt ${receiptId} was said to have paid ${intentId}, and has not`;
  }
  // An operator's entry is about the business, and names the payment's attempt.
  const entries = `SELECT COALESCE((SELECT intent_id::text FROM charges JOIN json_array_elements(changes) AS each (change)
      ON change->>'field' = 'transaction' AND change->>'after' = charges.id::text), object_id) AS "intentId"
    FROM audit_entries WHERE action = 'receipts.match' AND result = 'done'`;
  const logged = (await room.shared.database.asOwner<{ intentId: string }>(entries)).rows.map(
    ({ intentId }) => intentId,
  );
  const wrong = logged.find(
    (id, index) => logged.indexOf(id) !== index || !payments.some((one) => one.intentId === id && one.bookings > 0n),
  );
  return wrong === undefined ? null : `audit: the decision about ${wrong} stands in the log twice, or has paid nothing`;
}

function problemOf(
  { amountMinor, received, bookings, reversed, refunded, ofRefunds }: DirectPayment,
  { money, other }: { money: ReturnType<World['till']['find']>; other: DirectPayment | undefined },
): string | null {
  if (other) return `was paid by what has paid ${other.id}`;
  if (bookings > 1n) return `was booked ${bookings} times`;
  if (!money) return 'was paid by money of which nobody knows';
  if (received !== amountMinor || money.amountMinor !== amountMinor)
    return `is of ${amountMinor}, was booked with ${received}, and ${money.amountMinor} was sent`;
  const isTrue = !money.isForged && money.reversedAt === null;
  if (refunded !== ofRefunds) return `has refunds of ${ofRefunds}, and the ledger has ${refunded}`;
  if (refunded > received) return `was paid ${received}, and ${refunded} was refunded`;
  const due = isTrue ? 0n : received - refunded;
  return reversed === due ? null : `has ${isTrue ? '' : 'no '}money, and ${reversed} was taken back instead of ${due}`;
}

/** Whether nothing but its id was missing. */
function isToBePaid({
  payment,
  money,
}: {
  payment: DirectPayment;
  money: NonNullable<ReturnType<World['till']['find']>>;
}) {
  const { amountMinor, createdAt } = payment;
  const isTrue = !money.isForged && money.reversedAt === null;
  return isTrue && money.amountMinor === amountMinor && money.at.getTime() >= createdAt.getTime() - slackMs;
}

/** Another id was typed after it, or took its payment. */
function isReplaced(typed: World['receiptPayers']['typed'], one: { path: string; key: string }): boolean {
  const ofPayment = typed.filter(({ path }) => path === one.path);
  return ofPayment.at(-1)?.key !== one.key;
}

async function listDirectPayments({ shared }: World['room']): Promise<DirectPayment[]> {
  const moved = (what: string, side: 'credit' | 'debit', flow?: string) => `(SELECT COALESCE(${what}, 0)::text
    FROM ledger_movements moved WHERE moved.merchant_id = charges.merchant_id AND source_id = charges.id
      AND ${side}_account LIKE 'till:%' ${flow === undefined ? '' : `AND flow = '${flow}'`})`;
  const text = `SELECT charges.id, intent_id AS "intentId", '/pay/' || checkout_token AS path, charges.status,
      intents.created_at AS "createdAt", amount_paid::text AS amount, network_transaction_id AS "transactionId",
      ${moved('sum(moved.amount)', 'debit')} AS received,
      ${moved('count(*)', 'debit')} AS bookings,
      ${moved('sum(moved.amount)', 'credit', 'reversed')} AS back, ${moved('sum(moved.amount)', 'credit', 'refunded_directly')} AS refunded,
      (SELECT COALESCE(sum(refunds.amount), 0)::text FROM refunds JOIN transfers
          ON transfers.merchant_id = refunds.merchant_id AND transfers.id = refunds.id
        WHERE refunds.merchant_id = charges.merchant_id AND charge_id = charges.id AND transfers.status = 'completed') AS refunds
    FROM charges JOIN payment_intents intents ON intents.merchant_id = charges.merchant_id AND intents.id = intent_id
    WHERE received_directly ORDER BY charges.id`;
  const { rows } = await shared.database.asOwner<Record<string, string> & { createdAt: string }>(text);
  return rows.map(({ id = '', intentId = '', path = '', status = '', createdAt, transactionId, ...sums }) => {
    const sumOf = (name: string) => BigInt(sums[name] ?? 0);
    return {
      ...{ id, intentId, path, status, createdAt: new Date(createdAt), transactionId: transactionId ?? null },
      ...{ amountMinor: sumOf('amount'), received: sumOf('received'), bookings: sumOf('bookings') },
      ...{ reversed: sumOf('back'), refunded: sumOf('refunded'), ofRefunds: sumOf('refunds') },
    };
  });
}

/** The ids of which a person has to decide whom they have paid. */
async function listContested({ shared }: World['room']): Promise<Set<string>> {
  const text = `SELECT reference FROM cases WHERE kind = 'receipt_contested'`;
  const { rows } = await shared.database.asOwner<{ reference: string }>(text);
  return new Set(rows.map(({ reference }) => reference));
}
