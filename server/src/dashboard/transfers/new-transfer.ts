import type { MerchantAction } from '../../accounts/permissions.ts';
import { fieldError } from '../../api/app-error.ts';
import { canonicalAccountNumber } from '../../api/field-values.ts';
import { html } from '../../kit/html.ts';
import { formatAmount, parseAmount } from '../../kit/money.ts';
import { readBalances } from '../../ledger/balances.ts';
import { foreignText, formatNumber } from '../../pages/page-text.ts';
import { networkName } from '../../networks/known-networks.ts';
import { isNumberPaidBefore } from '../../transfers/find-transfer.ts';
import { transferFeeResponseSchema, transferSchema } from '../../transfers/transfer-wire.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { act } from '../patterns/act.ts';
import { formRoutes } from '../patterns/form-page.ts';
import { metadataField } from '../patterns/metadata.ts';
import type { Confirmation } from '../../portal/patterns/form-page.ts';
import type { Option } from '../../portal/patterns/fields.ts';
import { facts } from '../../portal/patterns/record-page.ts';
import { payoutNetworks } from '../sub-accounts/read-sub-account.ts';
import type { Visit } from '../visit.ts';
import {
  amountOf,
  hasRequested,
  needsSecondPerson,
  refuseImpossible,
  secondPersonNotice,
  submitTransferRequest,
} from './request-transfer.ts';

/** A payout to a number: what is typed, then its fee and what is left, then the transfer. */
export const newTransfer: readonly DashboardRoute[] = formRoutes<{ networks: Option[]; availableMinor: bigint }>({
  path: '/transfers/new',
  action: 'transfers.create',
  load: async (visit) => ({ networks: payoutNetworks(visit), availableMinor: await availableOf(visit) }),
  operation: 'createTransfer',
  hasActed: hasRequested,
  rows: ['metadata'],
  view: ({ networks, availableMinor }, _visit, { form }) => ({
    heading: 'Pay out',
    effect: html`<p>${formatAmount(availableMinor)} can be paid out.</p>`,
    fields: [
      {
        kind: 'amount',
        name: 'amount',
        label: 'Amount in dalasi',
        isRequired: true,
        hint: 'What the other side gets.',
      },
      { kind: 'select', name: 'network', label: 'Network', options: networks, isRequired: true },
      { kind: 'tel', name: 'account_number', label: 'Number', isRequired: true, hint: 'With 7 or 9 digits.' },
      { kind: 'text', name: 'beneficiary_name', label: 'Name of the account holder', isRequired: true },
      { kind: 'text', name: 'narration', label: 'Message', hint: 'They see it with the money.' },
      { kind: 'url', name: 'callback_url', label: 'Address that gets this payout’s events', isMore: true },
      metadataField('metadata', form),
    ],
    button: 'Look at the payout',
    back: { href: '/transfers', text: 'Back to the transfers' },
  }),
  confirm: async (visit, { subject, body }) => confirmTransfer(visit, subject.availableMinor, body),
  async submit(visit, { body, formId }) {
    const amountMinor = amountOf(body);
    const isRequested = await hasRequested(visit, { formId });
    if (isRequested || (await needsSecondPerson(visit, amountMinor))) {
      if (!isRequested) await refuseImpossible(visit, body);
      return submitTransferRequest(visit, { amountMinor, body, formId, subAccountId: null });
    }
    const transfer = await act(visit, {
      ...{ operationId: 'createTransfer', schema: transferSchema, body, formId },
      object: { type: 'transfer' },
    });
    return `/transfers/${transfer.id}`;
  },
});

async function availableOf({ money, merchant: { id: merchantId, currency } }: Visit): Promise<bigint> {
  const balances = await readBalances(money.db, { merchantId, currency, accounts: ['payable_available'] });
  return balances.get('payable_available') ?? 0n;
}

async function confirmTransfer(
  visit: Visit,
  availableMinor: bigint,
  body: Record<string, unknown>,
): Promise<Confirmation<MerchantAction>> {
  const { api, money, testMode, merchant } = visit;
  const text = (name: string): string => {
    const value = body[name];
    if (typeof value === 'string') return value;
    throw fieldError('invalid_request', name, 'Fill this in.');
  };
  const amountMinor = amountOf(body);
  const [number, network, name] = [text('account_number'), text('network'), text('beneficiary_name')];
  const canonical = canonicalAccountNumber(number, { strict: !testMode, path: 'account_number' });
  const call = { body: { amount: body['amount'], network } };
  const quote = await api.call('quoteTransferFee', transferFeeResponseSchema, call);
  const feeMinor = parseAmount(quote.fee);
  const afterMinor = availableMinor - amountMinor - feeMinor;
  if (afterMinor < 0n) {
    const needed = feeMinor > 0n ? ` With the fee of ${formatAmount(feeMinor)} it` : ' It';
    const message = `You have ${formatAmount(availableMinor)} to pay out.${needed} needs ${formatAmount(amountMinor + feeMinor)}.`;
    throw fieldError('insufficient_balance', 'amount', message);
  }
  const isKnown = await isNumberPaidBefore(money.db, merchant.id, canonical);
  const needsApproval = await needsSecondPerson(visit, amountMinor);
  const verb = needsApproval ? 'Ask to pay out' : 'Pay out';
  return {
    heading: `${verb} ${formatAmount(amountMinor)}?`,
    effect: html`${facts([
      ['To', html`<strong>${formatNumber(number)}</strong> at ${networkName(network)}`],
      ['Name', foreignText(name)],
      ['They get', formatAmount(amountMinor)],
      ['Fee, on top', formatAmount(feeMinor)],
      ['You can pay out now', formatAmount(availableMinor)],
      ['After it', formatAmount(afterMinor)],
    ])}
${!isKnown && html`<p class="notice wait">You have never paid this number. Compare it with the account holder, digit by digit.</p>`}
${needsApproval && secondPersonNotice}
<p>Once the network has it, a payout cannot be taken back.</p>`,
    button: `${verb} ${formatAmount(amountMinor)}`,
    action: isKnown ? 'transfers.create' : 'transfers.create_to_new_number',
  };
}
