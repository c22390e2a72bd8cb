import { isDatabaseAway } from '../kit/db-errors.ts';
import { cancelOpenAttempts, expireIfDue } from './change-payment.ts';
import { isOpenAbandoned, type Charge } from './charge.ts';
import type { PaymentContext } from './context.ts';
import { listIntentsToExpire, lockIntent } from './queries/intents.ts';

// Per merchant and sweep, so that one merchant's backlog does not keep the others waiting.
const rowsMax = 100;

/**
 * Stores the expiry of open intents whose time has passed, with the event. Whoever reads an intent sees it expired without
 * this. Returns how many were due. One that cannot be changed now keeps no other open; its error is thrown after them.
 */
export async function expirePayments(context: PaymentContext): Promise<number> {
  const due = await listIntentsToExpire(context.db, context.clock.now(), rowsMax);
  const errors: unknown[] = [];
  for (const { merchantId, id } of due) {
    await expirePayment(context, merchantId, id).catch((error: unknown) => {
      // Every other one would wait for it too.
      if (isDatabaseAway(error)) throw error;
      errors.push(error);
    });
  }
  if (errors.length > 0) throw errors[0];
  return due.length;
}

async function expirePayment(context: PaymentContext, merchantId: string, intentId: string): Promise<void> {
  const merchant = await context.merchants.byId(merchantId);
  if (!merchant) return;
  await context.db.withTransaction(async (tx) => {
    const intent = await lockIntent(tx, merchantId, intentId);
    if (!intent) return;
    const { status } = await expireIfDue(tx, context, { merchant, intent });
    const hasExpired = status === 'expired' && intent.status !== 'expired';
    // The current attempt ends at most networks by itself; the prompts that the payer left are in nobody's sight.
    const outlives = (charge: Charge) => isOpenAbandoned(charge) || decidesExpiry(context, charge);
    if (hasExpired && intent.attempts > 0n) await cancelOpenAttempts(tx, context, merchant, intentId, outlives);
  });
}

function decidesExpiry({ networks }: PaymentContext, { network, railAccount }: Charge): boolean {
  const connector = railAccount === null ? undefined : networks.find({ network, railAccount });
  return connector?.collections?.capabilities.decidesExpiry === true;
}
