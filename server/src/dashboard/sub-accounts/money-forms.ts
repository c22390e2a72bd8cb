import { apiForm } from '../patterns/api-form.ts';
import { AppError } from '../../api/app-error.ts';
import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { readAmount } from '../../kit/read-amount.ts';
import { cleanText, foreignText } from '../../pages/page-text.ts';
import { planPayout, payoutMinimumMinor } from '../../settlement/plan-payout.ts';
import { subAccountSchema } from '../../sub-accounts/sub-account-wire.ts';
import { transferSchema } from '../../transfers/transfer-wire.ts';
import type { Transfer } from '../../transfers/transfer.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import type { Field } from '../../portal/patterns/fields.ts';
import { act } from '../patterns/act.ts';
import { formRoutes } from '../patterns/form-page.ts';
import { facts } from '../../portal/patterns/record-page.ts';
import type { Visit } from '../visit.ts';
import { readSubAccount, type FoundSubAccount } from './read-sub-account.ts';
import {
  amountOf,
  hasRequested,
  needsSecondPerson,
  secondPersonNotice,
  submitTransferRequest,
} from '../transfers/request-transfer.ts';

interface PayoutSubject extends FoundSubAccount {
  /** As it would be made now; or why it cannot be. */
  plan: Transfer | Html;
  needsApproval: boolean;
}

const amountField: Field = { kind: 'hidden', json: 'amount', name: 'amount', label: 'Amount' };

/** The amount stands in the address, so that what is confirmed is what was shown. */
const payOut = formRoutes<PayoutSubject>({
  path: '/sub-accounts/:id/payout',
  action: 'sub_accounts.write',
  operation: 'createSubAccountPayout',
  hasActed: hasRequested,
  async load(visit, { params, query }) {
    const found = await readSubAccount(visit, params['id']);
    const plan = planOf(visit, found, query['amount']);
    const needsApproval = 'amountMinor' in plan && (await needsSecondPerson(visit, plan.amountMinor));
    return { ...found, plan, needsApproval };
  },
  view: ({ subAccount, plan, needsApproval, ...found }, _visit, { query }) => {
    const back = { href: `/sub-accounts/${subAccount.id}`, text: 'Keep it' };
    const below =
      found.isPayable && found.settledMinor >= payoutMinimumMinor ? otherAmount(query['amount'] ?? '') : html``;
    const verb = needsApproval ? 'Ask to pay out' : 'Pay out';
    const heading = `${verb} ${cleanText(subAccount.name)}`;
    // Also for a form that was sent before, when its payout has left too little for another.
    const fields = [amountField];
    if (!('amountMinor' in plan)) return { heading, button: '', back, refusal: plan, below, fields };
    const amount = formatAmount(plan.amountMinor);
    return {
      heading,
      effect: html`${facts([
        ['To', html`${foreignText(subAccount.name)}, ${found.destination}`],
        ['It gets', amount],
        ['Fee, which you pay', plan.feeMinor > 0n ? formatAmount(plan.feeMinor) : 'None'],
        ['Its balance after', formatAmount(found.settledMinor + found.pendingMinor - plan.amountMinor)],
        ['Yours after', plan.feeMinor > 0n ? formatAmount(found.merchantMinor - plan.feeMinor) : null],
      ])}${needsApproval && secondPersonNotice}<p>A payout that was sent cannot be called back. If the network refuses it, the money comes back to the sub-account.</p>`,
      fields,
      values: { amount: formatAmount(plan.amountMinor, { style: 'plain' }) },
      button: `${verb} ${amount}`,
      back,
      below,
    };
  },
  async submit(visit, { subject: { subAccount }, body, formId }) {
    const amountMinor = amountOf(body);
    if ((await hasRequested(visit, { formId })) || (await needsSecondPerson(visit, amountMinor))) {
      const { id: subAccountId, name, settlementCode: network, accountNumber } = subAccount;
      const shown = { network, account_number: accountNumber, beneficiary_name: name };
      return submitTransferRequest(visit, { amountMinor, body: { ...body, ...shown }, formId, subAccountId });
    }
    const { id } = await act(visit, {
      ...{ operationId: 'createSubAccountPayout', schema: transferSchema, params: { id: subAccount.id }, body, formId },
      object: { type: 'sub_account', id: subAccount.id },
    });
    return `/transfers/${id}`;
  },
});

function otherAmount(typed: string): Html {
  return html`<form method="get" class="panel stack"><div class="field"><label for="amount">Another amount, in dalasi</label>
<input id="amount" name="amount" inputmode="decimal" autocomplete="off" value="${typed}">
<p class="hint">Leave it empty for all that can be paid out.</p></div>
<button class="button plain small">Work out</button></form>`;
}

function planOf({ money, merchant }: Visit, found: FoundSubAccount, typed = ''): PayoutSubject['plan'] {
  const { subAccount, settledMinor, owedMinor, pendingMinor } = found;
  if (!found.isPayable) {
    return html`<p>${found.destination} cannot be paid out: the network pays out nothing here.
${formatAmount(settledMinor)} waits until you <a href="destination">choose another destination</a>.</p>`;
  }
  const amount = typed.trim() === '' ? { amountMinor: null } : readAmount(typed);
  if (!('amountMinor' in amount)) return html`<p>Type an amount such as 450 or 1,250.50.</p>`;
  if (settledMinor - owedMinor < payoutMinimumMinor) {
    return html`<p>Its settled balance is ${formatAmount(settledMinor)}, and a payout needs at least ${formatAmount(payoutMinimumMinor)}.
${pendingMinor > 0n && html`Another ${formatAmount(pendingMinor)} waits to be settled.`}
${owedMinor > 0n && html`It owes you ${formatAmount(owedMinor)}, which its next money repays first.`}</p>`;
  }
  try {
    const feeMoney = { availableMinor: found.merchantMinor, isOwed: found.merchantOwesMinor > 0n };
    const { amountMinor } = amount;
    return planPayout(money, merchant, subAccount, { settledMinor, owedMinor, feeMoney, amountMinor });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return html`<p>${error.message}</p>`;
  }
}

const waive = apiForm<FoundSubAccount>({
  path: '/sub-accounts/:id/waive',
  action: 'sub_accounts.write',
  ...{ operation: 'waiveSubAccountDebt', schema: subAccountSchema, object: 'sub_account', list: '/sub-accounts' },
  id: ({ subAccount }) => subAccount.id,
  load: (visit, { params }) => readSubAccount(visit, params['id']),
  view: ({ subAccount, owedMinor }) => ({
    heading: `Waive what ${cleanText(subAccount.name)} owes you`,
    ...(owedMinor === 0n && { refusal: html`<p>It owes you nothing.</p>` }),
    effect: html`<p>${foreignText(subAccount.name)} owes you <strong>${formatAmount(owedMinor)}</strong> for money that you
advanced. Its next shares would repay it. What you waive is lost to you, and this cannot be undone.</p>`,
    fields: [{ kind: 'amount', name: 'amount', label: 'How much to waive, in dalasi', isRequired: true }],
    values: { amount: formatAmount(owedMinor, { style: 'plain' }) },
    button: 'Waive debt',
    isDanger: true,
    back: { href: `/sub-accounts/${subAccount.id}`, text: 'Keep it' },
  }),
});

export const subAccountMoneyForms: readonly DashboardRoute[] = [...payOut, ...waive];
