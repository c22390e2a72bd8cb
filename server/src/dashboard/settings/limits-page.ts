import type { Queryable, Transaction } from '../../kit/db.ts';
import { html, type Html } from '../../kit/html.ts';
import { formatAmount, parseAmount } from '../../kit/money.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import { getBusiness, setRefundLimit } from '../../merchants/business-status.ts';
import { findRefundLimit } from '../../merchants/refund-limit.ts';
import { findReceiptConfirmAbove, updateReceiptConfirmAbove } from '../../merchants/receipt-limit.ts';
import { rateLimitKinds, rateOf, rateText } from '../../merchants/rate-limit-kinds.ts';
import { networkName } from '../../networks/known-networks.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { changedBy } from '../patterns/changed-by.ts';
import { formRoutes, type DashboardForm } from '../patterns/form-page.ts';
import { facts } from '../../portal/patterns/record-page.ts';
import { changeSetting } from './change-setting.ts';
import { ownMerchant } from './own-merchant.ts';
import {
  feePayerText,
  feeText,
  receiptLimitText,
  refundLimitText,
  reserveText,
  transferApprovalText,
} from './setting-texts.ts';
import { settingsPage, type SettingsPanel } from './settings-frame.ts';
import type { Visit } from '../visit.ts';
import { prepareOwnerMails } from '../../accounts/owner-mails.ts';
import { merchantPermission } from '../../accounts/permissions.ts';
import { listTeam } from '../../accounts/team.ts';
import { fieldError } from '../../api/app-error.ts';
import { findTransferApproval, updateTransferApproval } from '../../merchants/transfer-approval.ts';
import { cleanText } from '../../pages/page-text.ts';

const show: DashboardRoute = {
  path: '/settings/limits',
  action: 'fee_payer.read',
  async handle(visit) {
    const { accounts, money, rateLimits } = visit;
    const merchant = await ownMerchant(visit);
    const business = await getBusiness(accounts.db, merchant.businessId);
    const { byNetwork, otherwise } = merchant.transferFees;
    const { largestMinor, dailyMinor } = merchant.transferLimits;
    const limit = (minor: bigint | null) => (minor === null ? 'No limit' : formatAmount(minor));
    const agreed = html`<p class="hint">As agreed with the operator of this service, who changes them.</p>`;
    const panels: SettingsPanel[] = [
      {
        title: 'Refunds',
        body: html`<p>${refundLimitText(business.refundLimitMinor)}</p>
<p class="hint">In test and live.</p>${await changedBy(visit, { id: business.id, action: 'refund_limit.set' })}`,
        changes: [{ href: '/settings/limits/refunds', text: 'Change the limit', needs: 'refund_limit.manage' }],
      },
      await transferApprovalPanel(visit),
      ...(await receiptPanels(visit)),
      {
        title: 'Fees',
        body: html`${facts([
          ['Payment', feeText(merchant.collectionFee)],
          ['Transfer', feeText(otherwise)],
          ...[...byNetwork].map(([network, fee]) => [`Transfer to ${networkName(network)}`, feeText(fee)] as const),
        ])}<p>${feePayerText(merchant)}</p>${agreed}`,
      },
      {
        title: 'Payments',
        body: html`${facts([
          ['Smallest payment', formatAmount(money.settings.amountMinMinor)],
          ['Largest payment', formatAmount(money.settings.amountMaxMinor)],
        ])}`,
      },
      {
        title: 'Rate limits',
        body: html`${facts(
          rateLimitKinds.map((kind) => {
            const rate = rateOf(kind, merchant, rateLimits);
            return [rateNames[kind.name], rate === 0n ? 'No limit' : rateText(kind, rate)];
          }),
        )}<p class="hint">What comes faster is refused with <code>429</code>, and can be sent again a second later.</p>${agreed}`,
      },
      {
        title: 'Transfers',
        body: html`${facts([
          ['Largest transfer', limit(largestMinor)],
          ['All transfers of a day', limit(dailyMinor)],
        ])}${agreed}`,
      },
      {
        title: 'Reserve',
        body: html`<p>${reserveText(merchant.reserve)}.</p><p class="hint">A reserve waits for the time in which a network may take a
payment back.</p>`,
      },
    ];
    return { title: 'Fees and limits', body: settingsPage(visit, 'Fees and limits', panels) };
  },
};

/** For a business that payers send money to directly. */
async function receiptPanels(visit: Visit): Promise<SettingsPanel[]> {
  const { id } = visit.merchant;
  const limitMinor = await findReceiptConfirmAbove(visit.accounts.db, id);
  if (!visit.takesReceipts && limitMinor === null) return [];
  return [
    {
      title: 'Receipts',
      body: html`<p>${receiptLimitText(limitMinor)}</p>${await changedBy(visit, { id, action: 'receipts.limit' })}`,
      changes: [{ href: '/settings/limits/receipts', text: 'Change the limit', needs: 'receipt_limit.manage' }],
    },
  ];
}

const rateNames = {
  requests: 'All API keys',
  'key-percent': 'One of several keys',
  pages: 'Links and counters',
} as const;

/** Null for none. */
type Limit = bigint | null;

interface LimitForm extends Pick<DashboardForm<Limit>, 'path' | 'action'> {
  heading: string;
  find(db: Queryable, merchant: Merchant): Promise<Limit>;
  /** What the limit says now, and what else somebody has to know. */
  effect(limitMinor: Limit): Html;
  field: { name: string; label: string; hint: string };
  /** As the audit log has the change. */
  entry: { action: string; isForBoth?: boolean };
  /** What writes the limit in the transaction of the change. Throws AppError that names the field. */
  write(visit: Visit, limitMinor: Limit): Promise<(tx: Transaction) => void>;
}

/** A form for an amount above which something more is asked for; an emptied field asks for it never. */
function limitForm({ heading, find, effect, field, entry, write, ...page }: LimitForm): DashboardRoute[] {
  const { name } = field;
  const inWords = (minor: Limit) => ({ [name]: minor === null ? null : formatAmount(minor) });
  return formRoutes<Limit>({
    ...page,
    load: ({ accounts, merchant }) => find(accounts.db, merchant),
    view: (limitMinor) => ({
      ...{ heading, effect: effect(limitMinor) },
      fields: [{ ...field, kind: 'amount', whenEmpty: 'null', canBeZero: true }],
      values: { [name]: limitMinor === null ? '' : formatAmount(limitMinor, { style: 'plain' }) },
      button: 'Save the limit',
      back: { href: '/settings/limits', text: 'Keep it' },
    }),
    async submit(visit, { subject, body }) {
      const typed = body[name];
      const limitMinor = typeof typed === 'number' ? parseAmount(typed, name) : null;
      const current = async (tx: Transaction) => inWords(await find(tx, visit.merchant));
      const words = { current, before: inWords(subject), after: inWords(limitMinor) };
      const written = await write(visit, limitMinor);
      await changeSetting(visit, { ...entry, ...words }, written);
    },
  });
}

const refunds = limitForm({
  path: '/settings/limits/refunds',
  action: 'refund_limit.manage',
  find: (db, { businessId }) => findRefundLimit(db, businessId),
  heading: 'Limit for refunds',
  effect: (limitMinor) => html`<p>${refundLimitText(limitMinor)} This counts in test and live.</p>`,
  field: {
    ...{ name: 'refund_limit', label: 'Ask for the second factor above' },
    hint: 'In dalasi, such as 500. Leave empty to ask for no refund.',
  },
  entry: { action: 'refund_limit.set', isForBoth: true },
  write:
    async ({ merchant }, limitMinor) =>
    (tx) =>
      setRefundLimit(tx, merchant.businessId, limitMinor),
});

const receipts = limitForm({
  path: '/settings/limits/receipts',
  action: 'receipt_limit.manage',
  find: (db, { id }) => findReceiptConfirmAbove(db, id),
  heading: 'Limit for unconfirmed receipts',
  effect: (limitMinor) => html`<p>${receiptLimitText(limitMinor)}</p>
<p>Whoever holds your phone can forge a message, but not the network’s statement. A payment above the limit waits for up to seven days
until you have the statement imported.</p>`,
  field: {
    ...{ name: 'above', label: 'A statement line must confirm first above' },
    hint: 'In dalasi, such as 1000. Leave empty if a message is enough for every amount.',
  },
  entry: { action: 'receipts.limit' },
  write:
    async ({ merchant }, limitMinor) =>
    (tx) =>
      tx.send(updateReceiptConfirmAbove(merchant.id, limitMinor)),
});

async function transferApprovalPanel(visit: Visit): Promise<SettingsPanel> {
  const { businessId } = visit.merchant;
  const aboveMinor = await findTransferApproval(visit.accounts.db, businessId);
  return {
    title: 'Second person for payouts',
    body: html`<p>${transferApprovalText(aboveMinor)}</p>
<p class="hint">In test and live. API keys pay out by themselves: give the scope to few of them.</p>${await changedBy(visit, { id: businessId, action: 'transfer_approval.set' })}`,
    changes: [{ href: '/settings/limits/payouts', text: 'Change it', needs: 'transfer_approval.manage' }],
  };
}

/** How many of the team may approve a live payout. */
async function countApprovers({ accounts, merchant }: Visit): Promise<number> {
  const team = await listTeam(accounts.db, merchant.businessId);
  return team.filter(({ role }) => merchantPermission(role, 'transfers.approve', { testMode: false }).isAllowed).length;
}

const transferApproval = limitForm({
  path: '/settings/limits/payouts',
  action: 'transfer_approval.manage',
  find: (db, { businessId }) => findTransferApproval(db, businessId),
  heading: 'Second person for payouts',
  effect: (limitMinor) =>
    html`<p>${transferApprovalText(limitMinor)} This counts in test and live.</p><p>All owners get a mail about the change.</p>`,
  field: {
    ...{ name: 'above', label: 'A second person approves payouts above' },
    hint: 'In dalasi, such as 5000; 0 stands for every payout. Leave empty if one person is enough.',
  },
  entry: { action: 'transfer_approval.set', isForBoth: true },
  async write(visit, limitMinor) {
    const { accounts, account, base, merchant } = visit;
    if (limitMinor !== null && (await countApprovers(visit)) < 2) {
      const message = 'Nobody but you could approve a payout. Invite a second owner or somebody for finance first.';
      throw fieldError('invalid_request', 'above', message);
    }
    const mail = await prepareOwnerMails(accounts.db, accounts, merchant.businessId, {
      subject: 'Second person for payouts',
      what: `${cleanText(account.name)} changed it. ${transferApprovalText(limitMinor)}`,
      path: `${base}/settings/limits`,
    });
    return (tx) => {
      tx.send(updateTransferApproval(merchant.businessId, limitMinor));
      mail(tx);
    };
  },
});

export const limitSettings: readonly DashboardRoute[] = [show, ...refunds, ...transferApproval, ...receipts];
