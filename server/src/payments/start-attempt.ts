import { appendEvent } from '../events/append-event.ts';
import { enqueue, networkQueue } from '../events/outbox.ts';
import { AppError, fieldError } from '../kit/app-error.ts';
import { canonicalAccountNumber } from '../kit/account-number.ts';
import type { Transaction } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { Connector } from '../networks/contract.ts';
import { tryBeginPrompt } from '../networks/prompt-limits.ts';
import { newReference } from '../networks/reference.ts';
import type { Charge } from './charge.ts';
import { chargeEventRecord } from './charge-wire.ts';
import { intentTopic } from './context.ts';
import type { PaymentContext } from './context.ts';
import { attemptsMax, canIntentBecome, statusAt, totalMinor } from './intent.ts';
import type { Intent } from './intent.ts';
import { insertCharge } from './queries/charges.ts';
import { lockIntent, updateIntent } from './queries/intents.ts';
import { transactionReference } from './transaction-reference.ts';

export interface ChosenNetwork {
  connector: Connector;
  accountNumber: string | null;
  accountCanonical: string | null;
}

/**
 * Starts an attempt on an open intent. The charge and the worker's order to call the network are written together; the
 * call itself happens after the commit.
 *
 * Throws AppError `network_not_available`, `account_number_invalid` (field paths behind `fieldPrefix`) and
 * `state_conflict` when the intent takes no attempt now.
 */
export async function startAttempt(
  tx: Transaction,
  context: PaymentContext,
  merchant: Merchant,
  request: { intentId: string; network: string; accountNumber: string | null; fieldPrefix: string },
): Promise<Charge> {
  const intent = await lockIntent(tx, merchant.id, request.intentId);
  if (!intent) throw new AppError('not_found', 'There is no such payment.');
  const now = context.clock.now();
  const status = statusAt(intent, now);
  if (intent.review !== null) {
    throw new AppError('state_conflict', 'Money has come for this payment and is being looked at. Do not pay again.');
  }
  if (!canIntentBecome(status, 'processing') || intent.attempts >= attemptsMax) {
    throw new AppError('state_conflict', `This payment is ${status} and takes no further attempt.`);
  }
  const chosen = chooseNetwork(context, merchant, intent, request, request.fieldPrefix);
  const charge = newCharge(context, merchant, intent, chosen);
  if (!(await tryOpenPrompt(tx, context, merchant, intent, charge))) {
    const message = 'This number has just been asked to pay. Answer on the phone first, or try again in a while.';
    throw fieldError('network_not_available', `${request.fieldPrefix}account_number`, message);
  }
  const next: Intent = { ...intent, status: 'processing', attempts: charge.attempt, updatedAt: now };
  await updateIntent(tx, intent.status, next);
  writeAttempt(tx, context, merchant, next, charge);
  return charge;
}

/** Which network and number the payer may use for this intent, or the refusal that names the field. */
export function chooseNetwork(
  context: PaymentContext,
  merchant: Merchant,
  intent: Intent,
  request: { network: string; accountNumber: string | null },
  fieldPrefix: string,
): ChosenNetwork {
  const offered = offeredNetworks(context, merchant, intent);
  const connector = offered.find((candidate) => candidate.capabilities.network === request.network);
  if (!connector) {
    throw fieldError('network_not_available', `${fieldPrefix}network`, networkRefusal(request.network, offered));
  }
  if (request.accountNumber === null) {
    if (!connector.capabilities.numberRequired) return { connector, accountNumber: null, accountCanonical: null };
    const message = `${connector.capabilities.displayName} needs the payer's number.`;
    throw fieldError('account_number_invalid', `${fieldPrefix}account_number`, message);
  }
  const accountCanonical = canonicalAccountNumber(request.accountNumber, {
    strict: !merchant.testMode,
    path: `${fieldPrefix}account_number`,
  });
  return { connector, accountNumber: request.accountNumber, accountCanonical };
}

/** Whether the payer's phone may be asked now; on live networks the prompt is open from here on. */
export async function tryOpenPrompt(
  tx: Transaction,
  context: PaymentContext,
  merchant: Merchant,
  intent: Intent,
  charge: Charge,
): Promise<boolean> {
  if (merchant.testMode || charge.accountCanonical === null) return true;
  const prompt = { network: charge.network, number: charge.accountCanonical, chargeId: charge.id };
  return tryBeginPrompt(tx, context.clock, prompt, intent.expiresAt);
}

/** The networks that are on, that the merchant lets the payer use, and whose amount rule the total keeps. */
export function offeredNetworks(context: PaymentContext, merchant: Merchant, intent: Intent): Connector[] {
  const total = totalMinor(intent);
  return context.networks.list(merchant.testMode).filter(({ capabilities }) => {
    const isAccepted = intent.paymentMethods === null || intent.paymentMethods.includes(capabilities.network);
    return isAccepted && total % capabilities.amountStepMinor === 0n;
  });
}

export function newCharge(context: PaymentContext, merchant: Merchant, intent: Intent, chosen: ChosenNetwork): Charge {
  const now = context.clock.now();
  return {
    merchantId: merchant.id,
    id: context.newId(),
    intentId: intent.id,
    attempt: intent.attempts + 1n,
    status: 'pending',
    amountMinor: intent.amountMinor,
    feeMinor: intent.feeMinor,
    feePayer: intent.feePayer,
    amountPaidMinor: totalMinor(intent),
    amountReceivedMinor: null,
    currency: intent.currency,
    network: chosen.connector.capabilities.network,
    accountNumber: chosen.accountNumber,
    accountCanonical: chosen.accountCanonical,
    reference: newReference(context.random, merchant),
    transactionReference: transactionReference(now, context.random),
    networkReference: null,
    networkTransactionId: null,
    networkHandles: null,
    nextAction: null,
    progress: 'created',
    failureCode: null,
    failureReason: null,
    review: null,
    late: false,
    amountRefundedMinor: 0n,
    amountReversedMinor: 0n,
    debtRepaidMinor: 0n,
    eventSequence: 1n,
    paidAt: null,
    settlesAt: null,
    reservePercentHundredths: 0n,
    settledAt: null,
    createdAt: now,
    updatedAt: now,
  };
}

/** Writes the charge, its event and the order to call the network. */
export function writeAttempt(
  tx: Transaction,
  context: PaymentContext,
  merchant: Merchant,
  intent: Intent,
  charge: Charge,
): void {
  tx.send(insertCharge(charge));
  appendEvent(tx, context, {
    merchantId: charge.merchantId,
    kind: 'charge.created',
    objectId: charge.id,
    sequence: charge.eventSequence,
    record: chargeEventRecord(context, merchant, intent, charge),
    callbackUrl: intent.callbackUrl,
  });
  enqueue(tx, context, {
    merchantId: charge.merchantId,
    queue: networkQueue({ network: charge.network, testMode: merchant.testMode }, 'starts'),
    kind: 'start_charge',
    subjectId: charge.id,
  });
  tx.afterCommit(() => context.changes.notify(intentTopic(intent.id)));
}

function networkRefusal(network: string, offered: readonly Connector[]): string {
  const names = offered.map(({ capabilities }) => capabilities.network);
  const choices = names.length === 0 ? 'No network is on for this payment.' : `Choose among ${names.join(', ')}.`;
  return `${network} cannot take this payment. ${choices}`;
}
