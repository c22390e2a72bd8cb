import { isDeepStrictEqual } from 'node:util';
import { AppError, fieldError } from '../../api/app-error.ts';
import { html, type Html } from '../../kit/html.ts';
import type { Queryable, Transaction } from '../../kit/db.ts';
import { parseHundredths, wholePercent } from '../../kit/money.ts';
import { lockTerms } from '../../merchants/manage-rules.ts';
import { allNetworks, type RuleOwner } from '../../merchants/rules.ts';
import { findMerchantById } from '../../merchants/manage-keys.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import { readAmount } from '../../kit/read-amount.ts';
import { foreignText } from '../../pages/page-text.ts';
import { findKnownNetwork, networkName } from '../../networks/known-networks.ts';
import type { Field } from '../../portal/patterns/fields.ts';
import { changedMeanwhile } from '../../portal/patterns/form-page.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import { audit } from '../audit/record.ts';
import { loadMerchant, type Business } from '../businesses/business.ts';
import { formRoutes, type ConsoleRoute } from '../console-route.ts';
import type { ConsoleVisit } from '../visit.ts';

export type Form = PageInput['form'];

/** Whose terms: a business's in one environment, or the operator's default for all that agreed nothing else. */
export interface TermsOwner {
  owner: RuleOwner;
  /** Null for the default. */
  merchant: Merchant | null;
  /** Of a rule for one network; `all` otherwise. */
  network: string;
}

interface Terms extends TermsOwner {
  business: Business | null;
  networkText: string | null;
  fields: readonly Field[];
  /** What the fields hold now. */
  values: Form;
}

/** What an operator agrees: the same form for a business and for the default; it opens with what is agreed now. */
export interface TermsPage {
  /** The last part of the address. */
  name: string;
  /** Of the audit log; the name and `.set` where it is left out. */
  action?: string;
  heading: string;
  effect: string;
  /** Whether the default has it too; only some terms do. */
  hasDefault: boolean;
  fields(visit: ConsoleVisit, owner: TermsOwner): readonly Field[];
  values(db: Queryable, owner: TermsOwner): Promise<Form>;
  /** `values` is what the fields hold until then: what the form leaves as it is must not become a rule of the owner's own. */
  set(tx: Transaction, owner: TermsOwner, form: Form, values: Form): Promise<void>;
}

/** Ticked, a business goes back to the default, and the default to nothing. */
export function clearField({ merchant }: TermsOwner): Field {
  const label = merchant === null ? 'Remove the default' : 'Use the operator’s default instead';
  return { kind: 'checkbox', name: 'default', label };
}

export function isCleared(form: Form): boolean {
  return form['default'] === 'true';
}

/** Null for an empty field. Throws AppError that names the field. */
export function minorOf(form: Form, name: string): bigint | null {
  const text = (form[name] ?? '').trim();
  if (text === '') return null;
  const typed = readAmount(text);
  if ('amountMinor' in typed) return typed.amountMinor;
  throw fieldError('invalid_request', name, 'Type an amount such as 450 or 1,250.50.');
}

/** The same for a limit, which may be 0: then everything is above it. */
export function limitOf(form: Form, name: string): bigint | null {
  const typed = readAmount(form[name] ?? '');
  return 'problem' in typed && typed.problem === 'amount-zero' ? 0n : minorOf(form, name);
}

export function percentOf(form: Form): bigint {
  const hundredths = parseHundredths((form['percent'] ?? '').trim() || '0');
  if (hundredths !== undefined && hundredths <= wholePercent) return hundredths;
  throw fieldError('invalid_request', 'percent', 'Type a percentage from 0 to 100, such as 1.5.');
}

/** The forms of a business below its page, and of the default. */
export function termsRoutes(page: TermsPage): ConsoleRoute[] {
  return [
    ...termsForm(page, `/businesses/:id/${page.name}`),
    ...(page.hasDefault ? termsForm(page, `/defaults/${page.name}`) : []),
  ];
}

function termsForm(page: TermsPage, path: string): ConsoleRoute[] {
  return formRoutes<Terms>({
    path,
    action: 'terms.manage',
    load: (visit, input) => loadTerms(page, visit, input),
    view: ({ business, merchant, networkText, fields, values }) => ({
      heading: headingOf(page, { merchant, networkText }),
      // With the values, so that nobody overwrites what another operator has agreed meanwhile.
      effect: html`<p>${business ? html`${foreignText(business.name)}. ` : ''}${page.effect}</p><p class="hint">${summaryOf(fields, values)}</p>`,
      fields,
      values,
      button: 'Save',
      back: { href: termsPath(business), text: 'Keep it' },
    }),
    resultOf: (subject, _visit, { form }) => (isAgreed(subject, form) ? termsPath(subject.business) : undefined),
    async submit(visit, { subject, input: { form } }) {
      const { business, merchant, fields, values, network } = subject;
      const sent = Object.fromEntries(fields.map(({ name }) => [name, form[name] ?? '']));
      await visit.money.db.withTransaction(async (tx) => {
        const current = await lockValues(page, tx, subject);
        if (isAgreed({ fields, values: current }, form)) return;
        if (!isDeepStrictEqual(current, values)) throw changedMeanwhile;
        await page.set(tx, subject, form, current);
        const ofNetwork = network === allNetworks ? {} : { network };
        audit(tx, visit, {
          ...{ action: page.action ?? `${page.name}.set`, sent: { ...ofNetwork, ...sent }, before: values },
          ...(business && { businessId: business.id }),
          ...(merchant && { testMode: merchant.testMode }),
          object: merchant ? { type: 'merchant', id: merchant.id } : { type: 'defaults', id: null },
        });
      });
    },
  });
}

/** What is agreed now, by nobody else until the end of `tx`: two who were shown the same may press at the same moment. */
async function lockValues(page: TermsPage, tx: Transaction, owner: TermsOwner): Promise<Form> {
  await lockTerms(tx);
  const merchant = owner.merchant && ((await findMerchantById(tx, owner.merchant.id)) ?? owner.merchant);
  return page.values(tx, { ...owner, merchant });
}

/** Whether a form leaves these fields as they are. */
export function isAgreed({ fields, values }: Pick<Terms, 'fields' | 'values'>, form: Form): boolean {
  return fields.every(({ name }) => meaningOf(form[name]) === meaningOf(values[name]));
}

function termsPath(business: Business | null): string {
  return business ? `/businesses/${business.id}` : '/defaults';
}

/** The same for an amount or a percentage however it is written: what is agreed already is not agreed again. */
function meaningOf(text = ''): string {
  const amount = readAmount(text);
  if ('problem' in amount && amount.problem === 'amount-zero') return '0';
  return 'amountMinor' in amount ? String(amount.amountMinor) : text.trim();
}

/** Throws AppError `not_found`. */
async function loadTerms(page: TermsPage, visit: ConsoleVisit, input: PageInput): Promise<Terms> {
  const ofBusiness = input.params['id'] === undefined ? null : await loadMerchant(visit, input);
  const { business = null, merchant = null } = ofBusiness ?? {};
  const { network = allNetworks } = input.query;
  if (network !== allNetworks && !findKnownNetwork(network)) {
    throw new AppError('not_found', 'There is no such network.');
  }
  const owner = { owner: merchant ? { merchantId: merchant.id } : ('default' as const), merchant, network };
  return {
    ...owner,
    business,
    networkText: network === allNetworks ? null : networkName(network),
    fields: page.fields(visit, owner),
    values: await page.values(visit.money.db, owner),
  };
}

function headingOf(
  { heading }: TermsPage,
  { merchant, networkText }: { merchant: Merchant | null; networkText: string | null },
): string {
  const environment = merchant?.testMode === true ? 'test' : 'live';
  const of = merchant ? environment : 'default';
  return [heading, ...(networkText === null ? [] : [networkText]), of].join(', ');
}

function summaryOf(fields: readonly Field[], values: Form): Html {
  const set = fields.filter(({ name }) => (values[name] ?? '') !== '');
  if (set.length === 0) return html`Nothing is agreed now.`;
  return html`Now: ${set.map(({ name, label }) => `${label}: ${values[name]}`).join('; ')}.`;
}
