import { prepareOwnerMails } from '../../accounts/owner-mails.ts';
import { AppError, fieldError } from '../../api/app-error.ts';
import { maskedChanges } from '../../audit/masked-fields.ts';
import { html } from '../../kit/html.ts';
import { formatAmount, parseAmount } from '../../kit/money.ts';
import { maskPhoneNumber } from '../../kit/phone-number.ts';
import { findTransferApproval } from '../../merchants/transfer-approval.ts';
import { cleanText } from '../../pages/page-text.ts';
import { networkName } from '../../networks/known-networks.ts';
import { findTransferRequest, requestTransfer, type TransferRequest } from '../../transfers/transfer-requests.ts';
import { transferSchema } from '../../transfers/transfer-wire.ts';
import { audit } from '../patterns/act.ts';
import type { Visit } from '../visit.ts';

export const secondPersonNotice = html`<p class="notice wait">A second person has to approve this payout. Until then nothing is held and nothing is sent.</p>`;

/** Whether the business wants a second person for a payout of this amount; in test too, where it is tried. */
export async function needsSecondPerson({ accounts, merchant }: Visit, amountMinor: bigint): Promise<boolean> {
  const aboveMinor = await findTransferApproval(accounts.db, merchant.businessId);
  return aboveMinor !== null && amountMinor > aboveMinor;
}

/** In bututs. Throws AppError: an amount that is left out would be paid out, and is compared with no limit. */
export function amountOf({ amount }: Record<string, unknown>): bigint {
  if (typeof amount !== 'number') throw fieldError('invalid_request', 'amount', 'Type the amount.');
  return parseAmount(amount);
}

/** What is decided when it is paid out: there may be more money by then, and another day's limit. */
const decidedLater: ReadonlySet<string> = new Set(['insufficient_balance', 'limit_exceeded', 'merchant_owes']);

/**
 * Refuses what the API would refuse of a payout whenever somebody approves it, such as a message that is too long, by creating the
 * transfer and rolling it back. Throws AppError that names the field.
 */
export async function refuseImpossible({ api }: Visit, body: Readonly<Record<string, unknown>>): Promise<void> {
  const rollback = new Error('nothing is paid out before it is approved');
  const alsoWrite = () => {
    throw rollback;
  };
  try {
    await api.call('createTransfer', transferSchema, { body, alsoWrite });
  } catch (error) {
    if (error !== rollback && !(error instanceof AppError && decidedLater.has(error.code))) throw error;
  }
}

/** Keeps the payout for a second person, tells all owners, and returns where it is shown. Throws AppError. */
export async function submitTransferRequest(
  visit: Visit,
  { formId, ...requested }: Pick<TransferRequest, 'amountMinor' | 'body' | 'subAccountId'> & { formId: string },
): Promise<string> {
  const { accounts, money, account, merchant } = visit;
  const request: TransferRequest = {
    ...{ merchantId: merchant.id, id: formId, requestedBy: account.id, requestedByName: account.name },
    ...{ ...requested, createdAt: money.clock.now() },
  };
  const page = `/transfers/requests/${formId}`;
  const mail = await prepareOwnerMails(accounts.db, accounts, merchant.businessId, {
    subject: 'A payout waits for a second person',
    what: `${cleanText(account.name)} asks to pay out ${payoutText(request)}, in ${visit.testMode ? 'the test environment' : 'LIVE'}.`,
    path: `${visit.base}${page}`,
    pathText: 'Somebody else who may pay out approves or declines it here:',
  });
  await accounts.db.withTransaction(async (tx) => {
    if (!(await requestTransfer(tx, request))) return;
    const object = { type: 'transfer_request', id: formId };
    audit(tx, visit, { action: 'transfers.request', object, changes: maskedChanges(request.body) });
    mail(tx);
  });
  return page;
}

/**
 * Whether this form has requested its payout already: a second press requests nothing, although what the form shows has changed by now,
 * such as the balance.
 */
export async function hasRequested({ money, merchant }: Visit, { formId }: { formId: string }): Promise<boolean> {
  return (await findTransferRequest(money.db, merchant.id, formId)) !== undefined;
}

/** `D450.00 to Awa Ceesay, Wave •••• 0001`. */
export function payoutText({ amountMinor, body }: Pick<TransferRequest, 'amountMinor' | 'body'>): string {
  const where = `${networkName(String(body['network']))} ${maskPhoneNumber(String(body['account_number']))}`;
  return `${formatAmount(amountMinor)} to ${cleanText(String(body['beneficiary_name']))}, ${where}`;
}
