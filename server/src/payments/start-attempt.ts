import { appendEvent } from '../events/append-event.ts';
import { cancelWork, enqueue, networkQueue } from '../events/outbox.ts';
import { AppError, fieldError } from '../api/app-error.ts';
import { canonicalAccountNumber } from '../api/field-values.ts';
import { assert } from '../kit/assert.ts';
import type { Clock } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { CollectingConnector } from '../networks/contract.ts';
import { tryBeginPrompt } from '../networks/prompt-limits.ts';
import { newReference } from '../networks/reference.ts';
import type { NetworkRegistry } from '../networks/registry.ts';
import { changeIntent, type LockedPayment } from './change-payment.ts';
import { isOpenAbandoned, type Charge } from './charge.ts';
import { noteCharge } from './charge-notes.ts';
import { chargeToWire } from './charge-wire.ts';
import { notifyOfIntent, type PaymentContext } from './context.ts';
import {
  attemptsMax,
  canIntentBecome,
  statusAt,
  totalMinor,
  type Intent,
  type IntentStatus,
  type PaymentAmount,
} from './intent.ts';
import { countNotes } from './queries/charge-notes.ts';
import { insertCharge, listChargesOfIntent, updateChargeAbandoned } from './queries/charges.ts';
import { lockIntent, updateIntent } from './queries/intents.ts';
import { transactionReference } from './transaction-reference.ts';

export interface ChosenNetwork {
  connector: CollectingConnector;
  accountNumber: string | null;
  accountCanonical: string | null;
}

// Each return costs the network a look-up, and leaving again a cancellation, but no attempt: without a limit anyone with the link
// could repeat both for ever.
const resumesMax = 3;

/**
 * Starts an attempt on an open intent. The charge and the work of sending it are written together; a worker calls the
 * network after the commit. A payer who names the number of an abandoned attempt again goes back to that one instead, whose
 * prompt may still be open.
 *
 * Throws AppError `network_not_available`, `account_number_invalid` (field paths start with `fieldPrefix`) and
 * `state_conflict` when the intent takes no attempt now.
 */
export async function startAttempt(
  tx: Transaction,
  context: PaymentContext,
  merchant: Merchant,
  request: { intentId: string } & NetworkChoice,
): Promise<Charge> {
  const intent = await lockIntent(tx, merchant.id, request.intentId);
  if (!intent) throw new AppError('not_found', 'Payment not found.');
  const now = context.clock.now();
  const status = statusAt(intent, now);
  if (intent.review !== null) {
    const message = 'Money was received for this payment and is under review. Do not pay again.';
    throw new AppError('state_conflict', message);
  }
  if (!canIntentBecome(status, 'processing')) throw noFurtherAttempt(status);
  const chosen = chooseNetwork(context.networks, merchant, intent, request);
  const abandoned = await findAbandoned(tx, intent, chosen);
  if (abandoned) {
    if ((await countNotes(tx, abandoned, 'attempt_resumed')) >= resumesMax) throw promptedBefore(request);
    return resumeAttempt(tx, context, { merchant, intent, charge: abandoned });
  }
  if (intent.attempts >= attemptsMax) throw noFurtherAttempt(status);
  const charge = newCharge(context, merchant, intent, chosen);
  if (!(await tryOpenPrompt(tx, context.clock, merchant, intent, charge))) throw promptedBefore(request);
  const next: Intent = { ...intent, status: 'processing', attempts: charge.attempt, updatedAt: now };
  await updateIntent(tx, intent.status, next);
  writeAttempt(tx, context, merchant, next, charge);
  return charge;
}

/** The number has an open prompt, or has had as many as the limits allow. */
export function promptedBefore({ fieldPrefix }: Pick<NetworkChoice, 'fieldPrefix'>): AppError {
  const message = 'A prompt was just sent to this number. Approve it on the phone, or try again later.';
  return fieldError('network_not_available', `${fieldPrefix}account_number`, message);
}

/** The abandoned attempt of the same network and number that is still open. One under review has no prompt to go back to. */
async function findAbandoned(tx: Transaction, intent: Intent, chosen: ChosenNetwork): Promise<Charge | undefined> {
  if (intent.attempts === 0n) return undefined;
  const { network } = chosen.connector.capabilities;
  const charges = await listChargesOfIntent(tx, intent.merchantId, intent.id);
  return charges.findLast((charge) => {
    const isSame = charge.network === network && charge.accountCanonical === chosen.accountCanonical;
    return isSame && isOpenAbandoned(charge) && charge.review === null;
  });
}

/** Makes an abandoned attempt the current one again. It counts once among the attempts, and its prompt is open already. */
async function resumeAttempt(
  tx: Transaction,
  context: PaymentContext,
  { merchant, intent, charge }: LockedPayment,
): Promise<Charge> {
  const resumed: Charge = { ...charge, abandonedAt: null, updatedAt: context.clock.now() };
  const touched = await updateChargeAbandoned(tx, resumed);
  assert(touched === 1, 'nobody else changes a charge of a locked intent');
  const work = { merchantId: merchant.id, subjectId: charge.id };
  cancelWork(tx, { ...work, kind: 'cancel_charge' });
  // Whether its prompt is still open is known best by the network.
  const queue = networkQueue({ network: charge.network, testMode: merchant.testMode }, 'look-ups');
  enqueue(tx, context, { ...work, queue, kind: 'look_up_charge' });
  noteCharge(tx, context, charge, 'attempt_resumed', 'The payer went back to this attempt.');
  await changeIntent(tx, context, { merchant, intent }, { status: 'processing' }, null);
  return resumed;
}

/** A network and a number as the payer sent them; `fieldPrefix` leads the fields' names in a refusal. */
interface NetworkChoice {
  network: string;
  accountNumber: string | null;
  fieldPrefix: string;
}

/** The network and number for an attempt on this intent. Throws AppError naming the field that is refused. */
export function chooseNetwork(
  networks: NetworkRegistry,
  merchant: Merchant,
  intent: Intent,
  { network, accountNumber, fieldPrefix }: NetworkChoice,
): ChosenNetwork {
  const offered = offeredNetworks(networks, merchant, intent);
  const connector = offered.find((candidate) => candidate.capabilities.network === network);
  if (!connector) {
    throw fieldError('network_not_available', `${fieldPrefix}network`, networkRefusal(network, offered));
  }
  if (accountNumber === null) {
    if (!connector.collections.capabilities.numberRequired)
      return { connector, accountNumber: null, accountCanonical: null };
    const message = `${connector.capabilities.displayName} needs the payer's number.`;
    throw fieldError('account_number_invalid', `${fieldPrefix}account_number`, message);
  }
  const accountCanonical = canonicalAccountNumber(accountNumber, {
    strict: !merchant.testMode,
    path: `${fieldPrefix}account_number`,
  });
  return { connector, accountNumber, accountCanonical };
}

/** Opens the prompt on the payer's number, on live networks only. Returns false where the number may not be prompted now. */
export async function tryOpenPrompt(
  tx: Transaction,
  clock: Clock,
  merchant: Merchant,
  intent: Intent,
  charge: Charge,
): Promise<boolean> {
  // With receipts nothing is sent to the payer's phone.
  if (merchant.testMode || charge.accountCanonical === null || charge.receivedDirectly) return true;
  const prompt = { network: charge.network, number: charge.accountCanonical, chargeId: charge.id };
  return tryBeginPrompt(tx, clock, prompt, intent.expiresAt);
}

/** What decides which networks a payment is offered. */
export type OfferedPayment = PaymentAmount & Pick<Intent, 'paymentMethods' | 'subAccountId' | 'subAccountGroupId'>;

/** Of money that goes straight to the merchant, nobody could give a share or a fee to anybody else. */
export function canReceive({ collections }: CollectingConnector, payment: OfferedPayment): boolean {
  const isDivided = payment.feeMinor > 0n || payment.subAccountId !== null || payment.subAccountGroupId !== null;
  return collections.capabilities.shape !== 'receipt' || !isDivided;
}

/** The networks that are on, that the merchant allows for this payment, and that take its total. */
export function offeredNetworks(
  networks: NetworkRegistry,
  merchant: Merchant,
  payment: OfferedPayment,
): CollectingConnector[] {
  const total = totalMinor(payment);
  return networks
    .collecting(merchant, (connector) => canReceive(connector, payment))
    .filter(({ capabilities, collections }) => {
      const isAccepted = payment.paymentMethods === null || payment.paymentMethods.includes(capabilities.network);
      return isAccepted && total % collections.capabilities.amountStepMinor === 0n;
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
    railAccount: chosen.connector.capabilities.railAccount,
    receivedDirectly: chosen.connector.collections.capabilities.shape === 'receipt',
    accountNumber: chosen.accountNumber,
    accountCanonical: chosen.accountCanonical,
    reference: newReference(context.random, merchant),
    transactionReference: transactionReference(now, context.random),
    networkReference: null,
    networkTransactionId: null,
    networkHandles: null,
    nextAction: null,
    progress: 'created',
    abandonedAt: null,
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

/** Writes the charge, its event and the work of sending it. */
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
    record: chargeToWire(context, merchant, intent, charge),
    callbackUrl: intent.callbackUrl,
  });
  enqueue(tx, context, {
    merchantId: charge.merchantId,
    queue: networkQueue({ network: charge.network, testMode: merchant.testMode }, 'starts'),
    kind: 'start_charge',
    subjectId: charge.id,
  });
  tx.afterCommit(() => notifyOfIntent(context, intent));
}

function noFurtherAttempt(status: IntentStatus): AppError {
  return new AppError('state_conflict', `This payment is ${status} and takes no further attempt.`);
}

function networkRefusal(network: string, offered: readonly CollectingConnector[]): string {
  const names = offered.map(({ capabilities }) => capabilities.network);
  const choices = names.length === 0 ? 'No network is on for this payment.' : `Choose among ${names.join(', ')}.`;
  return `${network} is not available for this payment. ${choices}`;
}
