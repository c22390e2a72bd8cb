import { fieldError } from '../../api/app-error.ts';
import { html } from '../../kit/html.ts';
import type { Transaction } from '../../kit/db.ts';
import { formatAmount, parseHundredths, percentToJson } from '../../kit/money.ts';
import type { FeeRule } from '../../merchants/fees.ts';
import { allNetworks, resolveReserve } from '../../merchants/rules.ts';
import type { LimitKind, Operation } from '../../merchants/rules.ts';
import {
  clearFeeRule,
  clearLimit,
  clearReserve,
  findMerchantRules,
  findReserves,
  setFeePayer,
  setFeeRule,
  setLimit,
  setReserve,
} from '../../merchants/manage-rules.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import { payoutScheduleOf, payoutSchedules, setPayoutSchedule } from '../../merchants/payout-schedule.ts';
import { readAmount } from '../../pages/collect/read-amount.ts';
import { foreignText } from '../../pages/page-text.ts';
import type { Field } from '../../portal/patterns/fields.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import { audit } from '../audit/record.ts';
import { formRoutes } from '../console-route.ts';
import type { ConsoleRoute } from '../console-route.ts';
import type { ConsoleServices } from '../services.ts';
import { findBusiness } from './business.ts';
import type { Business } from './business.ts';

type Form = PageInput['form'];

/** A business's terms in one environment, which stands in the address. */
interface Terms {
  business: Business;
  merchant: Merchant;
  /** What the fields hold now. */
  values: Form;
}

const defaultField: Field = {
  kind: 'checkbox',
  name: 'default',
  label: 'Use the operator’s default instead',
};

const isDefault = (form: Form): boolean => form['default'] === 'true';

/** Null for an empty field. Throws AppError that names the field. */
function minorOf(form: Form, name: string): bigint | null {
  const text = (form[name] ?? '').trim();
  if (text === '') return null;
  const typed = readAmount(text);
  if ('amountMinor' in typed) return typed.amountMinor;
  throw fieldError('invalid_request', name, 'Type an amount such as 450 or 1,250.50.');
}

const wholePercent = 10_000n;

function percentOf(form: Form): bigint {
  const hundredths = parseHundredths((form['percent'] ?? '').trim() || '0');
  if (hundredths !== undefined && hundredths <= wholePercent) return hundredths;
  throw fieldError('invalid_request', 'percent', 'Type a percentage from 0 to 100, such as 1.5.');
}

/** An amount as a field shows it: nothing for none. */
function plainAmount(minor: bigint | null): string {
  return minor === null || minor === 0n ? '' : formatAmount(minor, { style: 'plain' });
}

/** What an operator agrees with a business; the same in each of its forms, which open with what is agreed now. */
function termsForm(page: {
  name: string;
  heading: string;
  effect: string;
  fields: readonly Field[];
  values: (services: ConsoleServices, merchant: Merchant) => Promise<Form>;
  set: (tx: Transaction, merchant: Merchant, form: Form) => Promise<void>;
}): ConsoleRoute[] {
  return formRoutes<Terms>({
    path: `/businesses/:id/${page.name}`,
    section: 'businesses',
    action: 'terms.manage',
    async load(services, _visit, { params, query }) {
      const business = await findBusiness(services, params['id']);
      const merchant = query['environment'] === 'test' ? business.test : business.live;
      return { business, merchant, values: await page.values(services, merchant) };
    },
    view: ({ business: { id, name }, merchant, values }) => ({
      heading: `${page.heading}, ${merchant.testMode ? 'test' : 'live'}`,
      // With the values, so that nobody overwrites what another operator has agreed meanwhile.
      effect: html`<p>${foreignText(name)}. ${page.effect}</p><p class="hint">${summaryOf(page.fields, values)}</p>`,
      fields: page.fields,
      values,
      button: 'Save',
      back: { href: `/businesses/${id}`, text: 'Keep it' },
    }),
    async submit(services, visit, { subject: { business, merchant, values }, input: { form } }) {
      const sent = Object.fromEntries(page.fields.map(({ name }) => [name, form[name] ?? '']));
      if (page.fields.every(({ name }) => (values[name] ?? '') === (form[name] ?? '').trim())) {
        return `/businesses/${business.id}`;
      }
      await services.money.db.withTransaction(async (tx) => {
        await page.set(tx, merchant, form);
        audit(tx, services, visit, {
          ...{ action: `${page.name}.set`, businessId: business.id, testMode: merchant.testMode, sent, before: values },
          object: { type: 'merchant', id: merchant.id },
        });
      });
      return `/businesses/${business.id}`;
    },
  });
}

function summaryOf(fields: readonly Field[], values: Form): string {
  const set = fields
    .filter(({ name }) => (values[name] ?? '') !== '')
    .map(({ name, label }) => `${label}: ${values[name]}`);
  return set.length === 0 ? 'Nothing is agreed now.' : `Now: ${set.join('; ')}.`;
}

function feeValues({ percentHundredths, fixedMinor, minimumMinor, maximumMinor }: FeeRule): Form {
  return {
    percent: percentHundredths === 0n ? '' : String(percentToJson(percentHundredths)),
    fixed: plainAmount(fixedMinor),
    minimum: plainAmount(minimumMinor),
    maximum: plainAmount(maximumMinor),
  };
}

const feeFields: readonly Field[] = [
  { kind: 'text', name: 'percent', label: 'Percent', hint: 'Such as 1.5.' },
  { kind: 'amount', name: 'fixed', label: 'Fixed part in dalasi' },
  { kind: 'amount', name: 'minimum', label: 'At least, in dalasi' },
  { kind: 'amount', name: 'maximum', label: 'At most, in dalasi' },
];

async function setFee(tx: Transaction, operation: Operation, merchant: Merchant, form: Form): Promise<void> {
  const owner = { merchantId: merchant.id };
  if (isDefault(form)) {
    await clearFeeRule(tx, owner, { operation, network: allNetworks });
    return;
  }
  const [minimumMinor, maximumMinor] = [minorOf(form, 'minimum') ?? 0n, minorOf(form, 'maximum')];
  if (maximumMinor !== null && maximumMinor < minimumMinor) {
    throw fieldError('invalid_request', 'maximum', 'The most is less than the least. Raise it.');
  }
  const rule = {
    percentHundredths: percentOf(form),
    fixedMinor: minorOf(form, 'fixed') ?? 0n,
    minimumMinor,
    maximumMinor,
  };
  await setFeeRule(tx, owner, { operation, network: allNetworks, ...rule });
}

const fees = termsForm({
  name: 'fees',
  heading: 'Fee of collections',
  effect: 'A new rule replaces the previous one as a whole. Payments that exist keep their fee.',
  fields: [
    {
      kind: 'select',
      name: 'payer',
      label: 'Paid by',
      options: [
        { value: 'business', text: 'The business' },
        { value: 'customer', text: 'The payer' },
      ],
    },
    ...feeFields,
    defaultField,
  ],
  values: async (_services, { collectionFee }) => ({ payer: collectionFee.payer, ...feeValues(collectionFee) }),
  async set(tx, merchant, form) {
    await setFeePayer(tx, merchant.id, form['payer'] === 'customer' ? 'customer' : 'business');
    await setFee(tx, 'collection', merchant, form);
  },
});

const transferFees = termsForm({
  name: 'transfer-fees',
  heading: 'Fee of transfers',
  effect: 'For the networks without a rule of their own. Transfers that exist keep their fee.',
  fields: [...feeFields, defaultField],
  values: async (_services, { transferFees: { otherwise } }) => feeValues(otherwise),
  set: (tx, merchant, form) => setFee(tx, 'transfer', merchant, form),
});

const kinds: readonly LimitKind[] = ['largest', 'daily'];

const limits = termsForm({
  name: 'limits',
  heading: 'Limits of transfers',
  effect: 'An empty field means the default; “none” exempts the business from it.',
  fields: [
    { kind: 'text', name: 'largest', label: 'Largest transfer in dalasi' },
    { kind: 'text', name: 'daily', label: 'All transfers of a day in dalasi' },
  ],
  async values({ money }, { id }) {
    const rules = await findMerchantRules(money.db, id);
    return Object.fromEntries(
      kinds.flatMap((kind) => {
        const limit = rules?.own.limits.find((each) => each.kind === kind);
        return limit ? [[kind, limit.amountMinor === null ? 'none' : plainAmount(limit.amountMinor)]] : [];
      }),
    );
  },
  async set(tx, { id: merchantId }, form) {
    for (const kind of kinds) {
      const isNone = (form[kind] ?? '').trim().toLowerCase() === 'none';
      const amountMinor = isNone ? null : minorOf(form, kind);
      if (amountMinor === null && !isNone) await clearLimit(tx, { merchantId }, kind);
      else await setLimit(tx, { merchantId }, { kind, amountMinor });
    }
  },
});

const hoursMax = 8_784;

const settlement = termsForm({
  name: 'settlement',
  heading: 'Settlement and reserve',
  effect: 'What is held already is released at its time.',
  fields: [
    {
      kind: 'select',
      name: 'schedule',
      label: 'Sub-accounts are paid out',
      options: payoutSchedules.map((value) => ({ value, text: value === 'manual' ? 'By request' : value })),
    },
    { kind: 'text', name: 'percent', label: 'Held in reserve, in percent', hint: '0 holds nothing.' },
    { kind: 'number', name: 'hours', label: 'For how many hours' },
    defaultField,
  ],
  async values({ money }, { id, testMode }) {
    const reserve = resolveReserve(await findReserves(money.db, { merchantId: id }), testMode);
    return {
      schedule: await payoutScheduleOf(money.db, id),
      ...(reserve && { percent: String(percentToJson(reserve.percentHundredths)), hours: String(reserve.hours) }),
    };
  },
  async set(tx, { id: merchantId }, form) {
    const schedule = payoutSchedules.find((each) => each === form['schedule']);
    if (!schedule) throw fieldError('invalid_request', 'schedule', 'Choose when sub-accounts are paid out.');
    await setPayoutSchedule(tx, merchantId, schedule);
    const owner = { merchantId };
    // Nothing typed is nothing agreed: the default holds.
    if (isDefault(form) || (form['percent'] ?? '').trim() === '') {
      await clearReserve(tx, owner);
      return;
    }
    const percentHundredths = percentOf(form);
    const hours = /^\d{1,4}$/.test((form['hours'] ?? '').trim()) ? Number(form['hours']) : 0;
    if (percentHundredths > 0n && (hours < 1 || hours > hoursMax)) {
      throw fieldError('invalid_request', 'hours', `Type a whole number from 1 to ${hoursMax}.`);
    }
    const newForDays = (await findReserves(tx, owner)).own?.newForDays ?? null;
    await setReserve(tx, owner, { percentHundredths, hours: BigInt(hours), newForDays });
  },
});

export const termsPages: readonly ConsoleRoute[] = [...fees, ...transferFees, ...limits, ...settlement];
