import { transactionKeyOf } from '../../server/src/receipts/receipt.ts';
import type { World } from './world.ts';

interface DirectPayment {
  id: string;
  path: string;
  status: string;
  createdAt: Date;
  amountMinor: bigint;
  transactionId: string | null;
  received: bigint;
  bookings: bigint;
  returned: bigint;
}

// `server/src/payments/typed-id.ts`: a message may be as much older than the payment.
const slackMs = 2 * 60_000;

/**
 * What was sent to the shop's own number has paid one payment at most, each payment that it has paid is booked once and for exactly that
 * amount, and what the statement contradicts is taken back. Who alone has typed the id of what was sent for a payment has paid it; where
 * several have, nobody is forgotten.
 */
export async function checkReceipts({ room, receiptPayers, operators, till }: World): Promise<string | null> {
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
  return null;
}

function problemOf(
  { amountMinor, received, bookings, returned }: DirectPayment,
  { money, other }: { money: ReturnType<World['till']['find']>; other: DirectPayment | undefined },
): string | null {
  if (other) return `was paid by what has paid ${other.id}`;
  if (bookings > 1n) return `was booked ${bookings} times`;
  if (!money) return 'was paid by money of which nobody knows';
  if (received !== amountMinor || money.amountMinor !== amountMinor)
    return `is of ${amountMinor}, was booked with ${received}, and ${money.amountMinor} was sent`;
  const isTrue = !money.isForged && money.reversedAt === null;
  if (returned !== (isTrue ? 0n : received)) return `has ${isTrue ? '' : 'no '}money, and ${returned} was taken back`;
  return null;
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
  const text = `SELECT charges.id, '/pay/' || checkout_token AS path, charges.status, intents.created_at AS "createdAt",
      amount_paid::text AS amount, network_transaction_id AS "transactionId",
      (SELECT COALESCE(sum(moved.amount), 0)::text FROM ledger_movements moved WHERE moved.merchant_id = charges.merchant_id
        AND source_id = charges.id AND debit_account LIKE 'till:%') AS received,
      (SELECT count(*)::text FROM ledger_movements moved WHERE moved.merchant_id = charges.merchant_id
        AND source_id = charges.id AND debit_account LIKE 'till:%') AS bookings,
      (SELECT COALESCE(sum(moved.amount), 0)::text FROM ledger_movements moved WHERE moved.merchant_id = charges.merchant_id
        AND source_id = charges.id AND credit_account LIKE 'till:%') AS back
    FROM charges JOIN payment_intents intents ON intents.merchant_id = charges.merchant_id AND intents.id = intent_id
    WHERE received_directly ORDER BY charges.id`;
  const { rows } = await shared.database.asOwner<Record<string, string> & { createdAt: string }>(text);
  return rows.map(
    ({ id = '', path = '', status = '', createdAt, amount, transactionId, received, bookings, back }) => ({
      ...{ id, path, status, createdAt: new Date(createdAt), transactionId: transactionId ?? null },
      ...{ amountMinor: BigInt(amount ?? 0), received: BigInt(received ?? 0), bookings: BigInt(bookings ?? 0) },
      returned: BigInt(back ?? 0),
    }),
  );
}

/** The ids of which a person has to decide whom they have paid. */
async function listContested({ shared }: World['room']): Promise<Set<string>> {
  const text = `SELECT reference FROM cases WHERE kind = 'receipt_contested'`;
  const { rows } = await shared.database.asOwner<{ reference: string }>(text);
  return new Set(rows.map(({ reference }) => reference));
}
