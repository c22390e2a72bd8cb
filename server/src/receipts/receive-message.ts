import type { IncomingHttpHeaders } from 'node:http';
import { enqueue, networkQueue, type WorkContext } from '../events/outbox.ts';
import { addMs, minuteMs } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import { matchMessage, type ReceiptTemplate } from '../networks/receipts/match-message.ts';
import type { NetworkRegistry } from '../networks/registry.ts';
import { findReceiptByKey, insertReceiptOnce, notePhone } from './queries.ts';
import { transactionKeyOf, type Receipt } from './receipt.ts';

export interface MessageContext extends WorkContext {
  db: Database;
  networks: NetworkRegistry;
  templates: readonly ReceiptTemplate[];
  /** The currency of a merchant; undefined for an unknown one. */
  currencyOf: (merchantId: string) => Promise<string | undefined>;
}

/** A request to the URL of an account's messages. */
export interface ForwardedRequest {
  railAccount: string;
  headers: IncomingHttpHeaders;
  body: Uint8Array;
}

export type ReceivedMessage =
  | { accepted: false; reason: 'connector' | 'signature' | 'stale' | 'malformed' }
  | {
      accepted: true;
      /**
       * `ignored`: no message, as a sign of life. `unreadable`: of no network's sender, or no template fits. `conflict`: it says
       * something else of a transaction that has a receipt.
       */
      outcome: MessageOutcome;
    };

export const messageOutcomes = ['stored', 'repeated', 'conflict', 'unreadable', 'ignored'] as const;
export type MessageOutcome = (typeof messageOutcomes)[number];

/**
 * Verifies a forwarded message and stores what it says of money received, with the work of matching it, before it is
 * acknowledged: a gateway does not send again what was acknowledged. A message is never stored or logged itself.
 */
export async function receiveMessage(context: MessageContext, request: ForwardedRequest): Promise<ReceivedMessage> {
  const connector = context.networks.findByAccount(request.railAccount);
  const { network, merchantId, testMode } = connector?.capabilities ?? {};
  const currency = merchantId ? await context.currencyOf(merchantId) : undefined;
  if (!connector?.messages || !network || !merchantId || currency === undefined) {
    return { accepted: false, reason: 'connector' };
  }
  const now = context.clock.now();
  const { headers, body, railAccount } = request;
  const reading = connector.messages.read({ headers, body, query: {}, receivedAt: now });
  if (!reading.accepted) return reading;
  const phone = { merchantId, railAccount, seenAt: now, noteAgainBefore: addMs(now, -minuteMs) };
  const note = (signs: { pingedAt?: Date; messageAt?: Date } = {}) =>
    notePhone(context.db, { ...phone, pingedAt: null, messageAt: null, ...signs });
  if (reading.message === null) {
    if (reading.isSignOfLife === true) await note({ pingedAt: now });
    return { accepted: true, outcome: 'ignored' };
  }
  const { sender, text, receivedAt: datedAt } = reading.message;
  const found = matchMessage(context.templates, { network, sender, text });
  const transactionKey = transactionKeyOf(found?.transactionId ?? '');
  if (!found || transactionKey === null) {
    await note();
    return { accepted: true, outcome: 'unreadable' };
  }
  const { transactionId, amountMinor, payerNumber, payerName, balanceMinor } = found;
  const outcome = await storeReceipt(context, testMode === true, {
    ...{ merchantId, id: context.newId(), railAccount, network, transactionId, transactionKey, amountMinor, currency },
    ...{ payerNumber, payerName, balanceMinor, status: 'unconfirmed', datedAt, createdAt: now },
  });
  await note({ messageAt: now });
  return { accepted: true, outcome };
}

/** Once for each transaction of an account; a second receipt of it changes nothing. */
async function storeReceipt(
  context: MessageContext,
  testMode: boolean,
  receipt: Omit<Receipt, 'chargeId' | 'updatedAt'>,
): Promise<MessageOutcome> {
  const { merchantId, id, network, amountMinor } = receipt;
  const isNew = await context.db.withTransaction(async (tx) => {
    if ((await insertReceiptOnce(tx, receipt)) === 0) return false;
    const queue = networkQueue({ network, testMode }, 'look-ups');
    enqueue(tx, context, { merchantId, queue, kind: 'match_receipt', subjectId: id });
    return true;
  });
  if (isNew) return 'stored';
  const stored = await findReceiptByKey(context.db, receipt);
  return stored?.amountMinor === amountMinor ? 'repeated' : 'conflict';
}
