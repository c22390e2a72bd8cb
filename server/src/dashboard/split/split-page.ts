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

interface Part {
  name: string;
  amountMinor: bigint;
  explanation: string;
}

async function result(visit: Visit, preview: Preview): Promise<Html> {
  const isByPayer = preview.transaction_fee_type === 'customer';
  const ids = preview.shares.map((share) => share.sub_account);
  const names = await subAccountNames(visit, ids);
  const parts: Part[] = [
    {
      name: 'You',
      amountMinor: parseAmount(preview.merchant_receives),
      explanation:
        preview.shares.length > 0 ? 'What is left after the fee and the shares.' : 'What is left after the fee.',
    },
    ...preview.shares.map((share) => ({
      name: names.get(share.sub_account) ?? 'Sub-account',
      amountMinor: parseAmount(share.amount),
      explanation: share.explanation,
    })),
    {
      name: 'Fee',
      amountMinor: parseAmount(preview.transaction_fee),
      explanation: isByPayer ? 'The payer pays it on top.' : 'You pay it: it is taken off first.',
    },
  ];
  return html`<section class="panel"><h2>The payer pays ${formatAmount(parseAmount(preview.amount_paid))}</h2>
${drawnToScale(parts)}
<dl class="facts parts">${parts.map(
    (
      { name, amountMinor, explanation },
      index,
    ) => html`<div><dt><svg class="key" width="16" height="16" aria-hidden="true">
<rect class="${seriesOf(index, parts.length)}" width="16" height="16" rx="3"/></svg> ${foreignText(name)}</dt>
<dd>${formatAmount(amountMinor)}</dd><dd class="hint">${explanation}</dd></div>`,
  )}</dl></section>`;
}

const [width, height] = [1000, 64];
const colours = 4;

/** You, then the shares in turn; the fee has the colour of none. */
function seriesOf(index: number, count: number): string {
  return index === count - 1 ? 'part-fee' : `part-${index % colours}`;
}

/** A bar whose parts are as wide as their amounts; the list below says the same in words. */
function drawnToScale(parts: readonly Part[]): Html {
  const whole = parts.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
  if (whole <= 0n) return html``;
  let beginMinor = 0n;
  const drawn = parts.map(({ amountMinor, name }, index) => {
    const x = Number((beginMinor * BigInt(width)) / whole);
    beginMinor += amountMinor;
    const end = Number((beginMinor * BigInt(width)) / whole);
    return html`<rect class="${seriesOf(index, parts.length)}" x="${x}" y="0" width="${Math.max(0, end - x)}" height="${height}"><title>${name} ${formatAmount(amountMinor)}</title></rect>`;
  });
  const label = parts.map(({ name, amountMinor }) => `${name} ${formatAmount(amountMinor)}`).join(', ');
  return html`<svg class="parts-bar" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${label}">${drawn}</svg>`;
}
