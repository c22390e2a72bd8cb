import { html } from '../../kit/html.ts';
import { formatAmount, parseAmount } from '../../kit/money.ts';
import { getBusiness, setRefundLimit, type Business } from '../../merchants/business-status.ts';
import { findReceiptConfirmAbove, updateReceiptConfirmAbove } from '../../merchants/receipt-limit.ts';
import { rateLimitKinds, rateOf, rateText } from '../../merchants/rate-limit-kinds.ts';
import { networkName } from '../../networks/known-networks.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { change } from '../patterns/act.ts';
import { changedBy } from '../patterns/changed-by.ts';
import { formRoutes } from '../patterns/form-page.ts';
import { facts } from '../../portal/patterns/record-page.ts';
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
        body: html`<p>${refundLimitText(business)}</p>
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

const refunds = formRoutes<Business>({
  path: '/settings/limits/refunds',
  action: 'refund_limit.manage',
  load: ({ accounts, merchant }) => getBusiness(accounts.db, merchant.businessId),
  view: (business) => ({
    heading: 'Limit for refunds',
    effect: html`<p>${refundLimitText(business)} This counts in test and live.</p>`,
    fields: [
      {
        ...{ kind: 'amount', name: 'refund_limit', label: 'Ask for the second factor above', whenEmpty: 'null' },
        canBeZero: true,
        hint: 'In dalasi, such as 500. Leave empty to ask for no refund.',
      },
    ],
    values: { refund_limit: limitValue(business.refundLimitMinor) },
    button: 'Save the limit',
    back: { href: '/settings/limits', text: 'Keep it' },
  }),
  async submit(visit, { subject, body }) {
    const limitMinor = typedLimit(body, 'refund_limit');
    const words = limitChange('refund_limit', [subject.refundLimitMinor, limitMinor]);
    const object = { type: 'business', id: subject.id };
    await change(visit, { action: 'refund_limit.set', object, ...words, isForBoth: true }, async (tx) =>
      setRefundLimit(tx, subject.id, limitMinor),
    );
  },
});

interface ReceiptLimit {
  limitMinor: bigint | null;
}

const receipts = formRoutes<ReceiptLimit>({
  path: '/settings/limits/receipts',
  action: 'receipt_limit.manage',
  load: async ({ accounts, merchant }) => ({
    limitMinor: await findReceiptConfirmAbove(accounts.db, merchant.id),
  }),
  view: ({ limitMinor }) => ({
    heading: 'Limit for unconfirmed receipts',
    effect: html`<p>${receiptLimitText(limitMinor)}</p>
<p>Whoever holds your phone can forge a message, but not the network’s statement. A payment above the limit waits for up to seven days
until you have the statement imported.</p>`,
    fields: [
      {
        ...{ kind: 'amount', name: 'above', label: 'A statement line must confirm first above', whenEmpty: 'null' },
        canBeZero: true,
        hint: 'In dalasi, such as 1000. Leave empty if a message is enough for every amount.',
      },
    ],
    values: { above: limitValue(limitMinor) },
    button: 'Save the limit',
    back: { href: '/settings/limits', text: 'Keep it' },
  }),
  async submit(visit, { subject, body }) {
    const limitMinor = typedLimit(body, 'above');
    const { id } = visit.merchant;
    const words = limitChange('above', [subject.limitMinor, limitMinor]);
    const object = { type: 'settings', id };
    await change(visit, { action: 'receipts.limit', object, ...words }, async (tx) =>
      tx.send(updateReceiptConfirmAbove(id, limitMinor)),
    );
  },
});

interface Approval {
  aboveMinor: bigint | null;
  /** How many of the team may approve a live payout. */
  approvers: number;
}

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

const transferApproval = formRoutes<Approval>({
  path: '/settings/limits/payouts',
  action: 'transfer_approval.manage',
  async load({ accounts, merchant }) {
    const team = await listTeam(accounts.db, merchant.businessId);
    const approvers = team.filter(
      ({ role }) => merchantPermission(role, 'transfers.approve', { testMode: false }).isAllowed,
    );
    return {
      aboveMinor: await findTransferApproval(accounts.db, merchant.businessId),
      approvers: approvers.length,
    };
  },
  view: ({ aboveMinor }) => ({
    heading: 'Second person for payouts',
    effect: html`<p>${transferApprovalText(aboveMinor)} This counts in test and live.</p><p>All owners get a mail about the change.</p>`,
    fields: [
      {
        ...{ kind: 'amount', name: 'above', label: 'A second person approves payouts above', whenEmpty: 'null' },
        canBeZero: true,
        hint: 'In dalasi, such as 5000; 0 stands for every payout. Leave empty if one person is enough.',
      },
    ],
    values: { above: limitValue(aboveMinor) },
    button: 'Save',
    back: { href: '/settings/limits', text: 'Keep it' },
  }),
  async submit(visit, { subject, body }) {
    const { accounts } = visit;
    const { businessId } = visit.merchant;
    const aboveMinor = typedLimit(body, 'above');
    if (aboveMinor !== null && subject.approvers < 2) {
      const message = 'Nobody but you could approve a payout. Invite a second owner or somebody for finance first.';
      throw fieldError('invalid_request', 'above', message);
    }
    const words = limitChange('above', [subject.aboveMinor, aboveMinor]);
    const object = { type: 'business', id: businessId };
    const mail = await prepareOwnerMails(accounts.db, accounts, businessId, {
      subject: 'Second person for payouts',
      what: `${cleanText(visit.account.name)} changed it. ${transferApprovalText(aboveMinor)}`,
      path: `${visit.base}/settings/limits`,
    });
    await change(visit, { action: 'transfer_approval.set', object, ...words, isForBoth: true }, async (tx) => {
      tx.send(updateTransferApproval(businessId, aboveMinor));
      mail(tx);
    });
  },
});

/** The limit that was typed, in bututs; null where the field was left empty. Throws AppError. */
function typedLimit(body: Readonly<Record<string, unknown>>, field: string): bigint | null {
  const typed = body[field];
  return typeof typed === 'number' ? parseAmount(typed, field) : null;
}

/** A limit as its field holds it when the form is first shown. */
function limitValue(limitMinor: bigint | null): string {
  return limitMinor === null ? '' : formatAmount(limitMinor, { style: 'plain' });
}

/** What the audit log says of a limit's change. */
function limitChange(field: string, [before, after]: readonly [bigint | null, bigint | null]) {
  const shown = (minor: bigint | null) => ({ [field]: minor === null ? null : formatAmount(minor) });
  return { before: shown(before), after: shown(after) };
}

export const limitSettings: readonly DashboardRoute[] = [show, ...refunds, ...transferApproval, ...receipts];
