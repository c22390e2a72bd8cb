import type { Static } from 'typebox';
import { fieldError } from '../../api/app-error.ts';
import { html, type Html } from '../../kit/html.ts';
import { formatAmount, parseAmount } from '../../kit/money.ts';
import { foreignText } from '../../pages/page-text.ts';
import { previewPayment } from '../../payments/create-payment.ts';
import type { previewResponseSchema } from '../../payments/intent-wire.ts';
import { formSummary, refusedForm, type FormState } from '../../portal/forms.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { subAccountNames } from '../patterns/account-names.ts';
import { bodyOfForm, drawField, type Field } from '../../portal/patterns/fields.ts';
import { shareParts } from '../patterns/charts/share-parts.ts';
import { splitChoices, splitFields } from '../patterns/split-choices.ts';
import type { Visit } from '../visit.ts';

type Preview = Static<typeof previewResponseSchema>;

/** What a payment would be divided into; asks in the address, stores nothing. */
export const splitPage: DashboardRoute = {
  path: '/split',
  action: 'records.read',
  async handle(visit, { query }) {
    const fields: Field[] = [
      { kind: 'amount', name: 'data.amount', label: 'Amount in dalasi', isRequired: true },
      ...splitFields(await splitChoices(visit), 'data.'),
      { kind: 'select', name: payerName, label: 'Who pays the fee', options: payers, isRequired: true },
    ];
    const values = { [payerName]: visit.merchant.collectionFee.payer, ...query };
    const worked = query['data.amount'] === undefined ? null : await workOut(visit, fields, values);
    const form: FormState = worked && 'form' in worked ? worked.form : { values, errors: [] };
    return {
      status: worked && 'form' in worked ? worked.status : 200,
      title: 'Split preview',
      body: html`<h1>Split preview</h1>
<div class="columns"><form method="get" class="stack panel">
${formSummary(
  form,
  fields.map(({ name }) => name),
)}
${fields.map((field) => drawField(form, field))}
${fields.length === 2 && html`<p class="hint">You share with nobody yet. <a href="${visit.base}/sub-accounts/new">New sub-account</a></p>`}
<div class="actions"><button class="button">Work out</button></div></form>
${worked && 'preview' in worked && (await result(visit, worked.preview))}</div>`,
    };
  },
};

const payerName = 'fee_payer';
const payers = [
  { value: 'business', text: 'We' },
  { value: 'customer', text: 'The payer' },
] as const;

/** As the API's preview, also for who does not pay the fee now. */
async function workOut(
  { money, merchant }: Visit,
  fields: readonly Field[],
  query: PageInput['query'],
): Promise<{ preview: Preview } | { status: number; form: FormState }> {
  const payer = payers.find(({ value }) => value === query[payerName])?.value ?? merchant.collectionFee.payer;
  try {
    const data = (bodyOfForm(fields, query)['data'] ?? {}) as Record<string, unknown>;
    const { amount, sub_account: subAccountId = null, sub_account_group: groupId = null } = data;
    if (typeof amount !== 'number') throw fieldError('invalid_request', 'data.amount', 'Type the amount.');
    const split = {
      subAccountId: subAccountId as string | null,
      groupId: groupId as string | null,
      paths: { subAccount: 'data.sub_account', group: 'data.sub_account_group' },
    };
    const isShared = split.subAccountId !== null || split.groupId !== null;
    const request = { amountMinor: parseAmount(amount), currency: null, split: isShared ? split : null };
    const withPayer = { ...merchant, collectionFee: { ...merchant.collectionFee, payer } };
    return { preview: (await previewPayment(money.db, money, withPayer, request)) as Preview };
  } catch (error) {
    return refusedForm({ ...query }, error);
  }
}

async function result(visit: Visit, preview: Preview): Promise<Html> {
  const isByPayer = preview.transaction_fee_type === 'customer';
  const ids = preview.shares.map((share) => share.sub_account);
  const names = await subAccountNames(visit, ids);
  const parts = [
    {
      name: 'You',
      amount: preview.merchant_receives,
      hint: preview.shares.length > 0 ? 'What is left after the fee and the shares.' : 'What is left after the fee.',
    },
    ...preview.shares.map(({ sub_account: id, amount, explanation: hint }) => {
      return { name: names.get(id) ?? 'Sub-account', amount, hint };
    }),
    {
      name: 'Fee',
      amount: preview.transaction_fee,
      hint: isByPayer ? 'The payer pays it on top.' : 'You pay it: it is taken off first.',
    },
  ].map(({ amount, ...part }) => ({ ...part, size: parseAmount(amount), text: formatAmount(parseAmount(amount)) }));
  const label = parts.map(({ name, text }) => `${name} ${text}`).join(', ');
  return html`<section class="panel"><h2>The payer pays ${formatAmount(parseAmount(preview.amount_paid))}</h2>
${shareParts(
  parts.map((part) => ({ ...part, name: foreignText(part.name) })),
  label,
)}</section>`;
}
