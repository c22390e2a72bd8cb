import { isUuid } from '../../kit/ids.ts';
import { getCustomer } from '../../customers/manage-customers.ts';
import { getLink } from '../../links/manage-links.ts';
import { knownNetworks } from '../../networks/known-networks.ts';
import { findChargeByName, findPayment, findTransaction } from '../../payments/find-payment.ts';
import { findReceiptById, listReceiptsOfTransaction } from '../../receipts/receipt-store.ts';
import { transactionKeyOf, type Receipt } from '../../receipts/receipt.ts';
import { findRecordsOfTransaction } from '../../reports/find-records.ts';
import { isRequestId } from '../../request-log/logged-request.ts';
import { listRequests } from '../../request-log/read-requests.ts';
import { getSubAccount } from '../../sub-accounts/manage-sub-accounts.ts';
import { getTerminal } from '../../terminals/manage-terminals.ts';
import { findTransferById, findTransferByReference } from '../../transfers/find-transfer.ts';
import type { Transfer } from '../../transfers/transfer.ts';
import { findEventOfRequest, getEventRow } from '../../webhooks/list-events.ts';
import { getEndpoint } from '../../webhooks/manage-endpoints.ts';
import { ifFound } from '../patterns/if-found.ts';
import { hrefOf } from '../payments/payment-filters.ts';
import type { Visit } from '../visit.ts';

/** The page of the record with exactly this id or reference, below the visit's base; null where there is none. */
export async function findExact(visit: Visit, term: string): Promise<string | null> {
  const { db } = visit.money;
  const { merchant, may, membership } = visit;
  const charge = await findChargeByName(db, merchant.id, term);
  const intentId = charge?.intentId ?? (isUuid(term) ? term : null);
  const payment = intentId === null ? undefined : await ifFound(findPayment(db, merchant.id, intentId));
  if (payment) {
    const { id, terminalId } = payment.intent;
    if (!may('payments.read').ownOnly) return `/payments/${id}`;
    // Cashiers find the payment of a receipt that somebody shows them only at their own counters.
    const isOwn = terminalId !== null && membership.terminalIds.includes(terminalId);
    return isOwn ? hrefOf(payment, term) : null;
  }
  if (isUuid(term)) return findById(visit, term);
  const transfer = may('transfers.read').isAllowed ? await findTransferByReference(db, merchant.id, term) : undefined;
  if (transfer) return transferPath(transfer);
  const found = (await findByRequest(visit, term)) ?? (await findByTransaction(visit, term));
  return found ?? findReceipt(visit, term);
}

/**
 * By the `x-request-id` of a response, as a developer's log has it: the request, or what it changed where the log lacks it, as after
 * a crash. A payer's request stands in events only.
 */
async function findByRequest(visit: Visit, term: string): Promise<string | null> {
  if (!isRequestId(term) || !visit.may('requests.read').isAllowed) return null;
  const { db, lists } = visit.money;
  const [request] = (await listRequests(lists, visit.merchant.id, onlyOne, { term })).rows;
  if (request) return `/requests/${request.id}`;
  const eventId = await findEventOfRequest(db, visit.merchant.id, term);
  return eventId === undefined ? null : `/events/${eventId}`;
}

const onlyOne = { limit: 1, offset: 0, before: null };

/** By the network's own id of money that moved, from an index: of any age. */
async function findByTransaction(visit: Visit, term: string): Promise<string | null> {
  if (!mayReadRecords(visit)) return null;
  const [record, other] = await findRecordsOfTransaction(visit.money, visit.merchant, term);
  return record && !other ? `/${record.kind}s/${record.id}` : null;
}

/** By the id of the network's transaction, as people type it; null where several tills have a receipt with it. */
async function findReceipt(visit: Visit, term: string): Promise<string | null> {
  const transactionKey = transactionKeyOf(term);
  if (transactionKey === null || !mayReadRecords(visit)) return null;
  const networks = knownNetworks.map(({ id }) => id);
  const key = { merchantId: visit.merchant.id, networks, transactionKey };
  const [receipt, other] = await listReceiptsOfTransaction(visit.money.db, key);
  return receipt && !other ? receiptPath(visit, receipt) : null;
}

/** The payment that it has paid, or the page on which somebody decides. */
async function receiptPath({ money }: Visit, { merchantId, id, chargeId }: Receipt): Promise<string> {
  const paid = chargeId === null ? undefined : await findTransaction(money.db, merchantId, chargeId);
  return paid ? `/payments/${paid.intent.id}` : `/receipts/${id}`;
}

function mayReadRecords({ may }: Visit): boolean {
  const { isAllowed, ownOnly } = may('records.read');
  return isAllowed && !ownOnly;
}

function transferPath({ id, kind }: Transfer): string {
  return `/${kind === 'refund' ? 'refunds' : 'transfers'}/${id}`;
}

async function findById(visit: Visit, id: string): Promise<string | null> {
  const { db } = visit.money;
  const { merchant, may } = visit;
  if (may('transfers.read').isAllowed) {
    const transfer = await findTransferById(db, merchant.id, id);
    if (transfer) return transferPath(transfer);
  }
  const receipt = mayReadRecords(visit) ? await findReceiptById(db, merchant.id, id) : undefined;
  if (receipt) return receiptPath(visit, receipt);
  const finders = [
    { path: '/customers', needs: 'records.read', find: getCustomer },
    { path: '/links', needs: 'records.read', find: getLink },
    { path: '/counters', needs: 'records.read', find: getTerminal },
    { path: '/sub-accounts', needs: 'records.read', find: getSubAccount },
    { path: '/endpoints', needs: 'requests.read', find: getEndpoint },
    { path: '/events', needs: 'requests.read', find: getEventRow },
  ] as const;
  for (const { path, needs, find } of finders) {
    if (may(needs).isAllowed && (await ifFound<unknown>(find(db, merchant.id, id)))) return `${path}/${id}`;
  }
  return null;
}
