import { Browser } from './browser.ts';
import type { World } from './world.ts';

interface PaymentOfPage {
  path: string;
  status: string;
  charges: { reference: string; received: number; returned: number }[] | null;
}

/**
 * Payers were led to each payment that the pages of links and counters have created, and each of its pages says what the ledger says:
 * a receipt where money was received, of how much, and whether any went back.
 */
export async function checkPages({ room, traffic, payers, receiptPayers }: World): Promise<string | null> {
  const payments = await listPayments(room, [...receiptPayers.paths, ...payers.paths]);
  const created = new Set(payments.map(({ path }) => path));
  const known = new Set([...payers.paths, ...receiptPayers.paths]);
  const unknown = payments.find(({ path }) => !known.has(path));
  if (unknown) return `pages: ${unknown.path} was created, and no payer was led to it`;
  const lost = [...known].find((path) => !created.has(path));
  if (lost !== undefined) return `pages: ${lost} is lost`;
  const browser = new Browser({ traffic, clock: room.clock });
  for (const payment of payments) {
    const { text } = await browser.open(payment.path);
    const difference = differenceOf(payment, text);
    if (difference !== null) return `receipts: ${payment.path} ${difference}`;
  }
  return null;
}

function differenceOf({ status, charges }: PaymentOfPage, page: string): string | null {
  const isReceipt = page.includes('class="step ended receipt"');
  if (isReceipt !== (status === 'successful'))
    return `is ${isReceipt ? '' : 'not '}a receipt, and the payment ${status}`;
  if (!isReceipt) return null;
  const [, reference = ''] = /<dd class="reference">([^<]*)</.exec(page) ?? [];
  const charge = (charges ?? []).find((one) => one.reference === reference);
  if (!charge) return `is the receipt of ${reference}, which is no attempt of it`;
  const shown = Number((/<p class="amount">(.*?)<\/p>/s.exec(page)?.[1] ?? '').replaceAll(/<[^>]*>|[^\d]/g, ''));
  if (shown !== charge.received) return `says ${shown}, and the ledger ${charge.received}`;
  const isPaid = page.includes('<div class="stamp">');
  if (isPaid !== (charge.returned === 0)) return `says ${isPaid ? '' : 'not '}paid, and ${charge.returned} went back`;
  return null;
}

async function listPayments(room: World['room'], others: readonly string[]): Promise<PaymentOfPage[]> {
  const text = `WITH moved AS (
      SELECT charges.intent_id, charges.merchant_id, transaction_reference AS reference,
        (SELECT COALESCE(sum(amount), 0) FROM ledger_movements m
          WHERE m.merchant_id = charges.merchant_id AND source_id = charges.id AND debit_account ~ '^(float|till):') AS received,
        (SELECT COALESCE(sum(CASE WHEN credit_account LIKE 'float:%' THEN amount ELSE -amount END), 0) FROM ledger_movements m
          WHERE m.merchant_id = charges.merchant_id
            AND (credit_account ~ '^(float|till):' AND source_id = charges.id
              OR (credit_account LIKE 'float:%' OR debit_account LIKE 'float:%')
                AND source_id IN (SELECT id FROM refunds WHERE charge_id = charges.id))) AS returned
      FROM charges
    )
    SELECT '/pay/' || checkout_token AS path, status,
      (SELECT json_agg(moved) FROM moved WHERE intent_id = payment_intents.id AND moved.merchant_id = payment_intents.merchant_id) AS charges
    FROM payment_intents WHERE payment_link_id IS NOT NULL OR terminal_id IS NOT NULL
      OR '/pay/' || checkout_token = ANY ($1) ORDER BY id`;
  return (await room.shared.database.asOwner<PaymentOfPage & Record<string, unknown>>(text, [others])).rows;
}
