import { prepareOwnerMails } from '../../accounts/owner-mails.ts';
import { merchantPermission } from '../../accounts/permissions.ts';
import { listTeam } from '../../accounts/team.ts';
import { fieldError } from '../../api/app-error.ts';
import { html } from '../../kit/html.ts';
import { findTransferApproval, updateTransferApproval } from '../../merchants/transfer-approval.ts';
import { cleanText } from '../../pages/page-text.ts';
import { change } from '../patterns/act.ts';
import { changedBy } from '../patterns/changed-by.ts';
import { formRoutes } from '../patterns/form-page.ts';
import type { Visit } from '../visit.ts';
import { limitChange, limitValue, typedLimit } from './amount-limit.ts';
import { transferApprovalText } from './setting-texts.ts';
import type { SettingsPanel } from './settings-frame.ts';

interface Subject {
  aboveMinor: bigint | null;
  /** How many of the team may approve a live payout. */
  approvers: number;
}

export async function transferApprovalPanel(visit: Visit): Promise<SettingsPanel> {
  const { businessId } = visit.merchant;
  const aboveMinor = await findTransferApproval(visit.accounts.db, businessId);
  return {
    title: 'Second person for payouts',
    body: html`<p>${transferApprovalText(aboveMinor)}</p>
<p class="hint">In test and live. API keys pay out by themselves: give the scope to few of them.</p>${await changedBy(visit, { id: businessId, action: 'transfer_approval.set' })}`,
    changes: [{ href: '/settings/limits/payouts', text: 'Change it', needs: 'transfer_approval.manage' }],
  };
}

export const transferApproval = formRoutes<Subject>({
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
    await accounts.sealer.prepare();
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
