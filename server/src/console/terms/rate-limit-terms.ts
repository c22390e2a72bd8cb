import { fieldError } from '../../api/app-error.ts';
import { html } from '../../kit/html.ts';
import { getLink, setLinkRateLimit } from '../../links/manage-links.ts';
import { lockTerms, setRateLimits } from '../../merchants/manage-rules.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import { rateText, rateValues } from '../../merchants/rule-values.ts';
import { parseRate, rateLimitKinds, type RateLimitKind } from '../../merchants/rate-limit-kinds.ts';
import { assert } from '../../kit/assert.ts';
import { foreignText } from '../../pages/page-text.ts';
import type { Field } from '../../portal/patterns/fields.ts';
import { getTerminal, setTerminalRateLimit } from '../../terminals/manage-terminals.ts';
import { audit } from '../audit/record.ts';
import { loadMerchant, type MerchantOfBusiness } from '../businesses/business.ts';
import { formRoutes, type ConsoleRoute } from '../console-route.ts';
import type { ConsoleVisit } from '../visit.ts';
import { termsRoutes, type Form } from './terms-form.ts';

const labels: Record<RateLimitKind['name'], string> = {
  requests: 'API requests a second',
  'key-percent': 'Percent of that for one of several keys',
  pages: 'New payments a second from each link and counter',
};

function limitField(kind: RateLimitKind, { rateLimits }: ConsoleVisit, merchant: Pick<Merchant, 'testMode'>): Field {
  const setting = rateLimits[kind.setting(merchant).field];
  const hint = `Empty: the server’s setting, ${setting === 0 ? 'no limit' : setting}.${kind.canBeNone ? ' “none”: no limit.' : ''}`;
  return { kind: 'text', name: kind.name, label: labels[kind.name], hint };
}

/** Null for an empty field. Throws AppError that names the field. */
function rateOf(kind: RateLimitKind, form: Form, name: string = kind.name): bigint | null {
  const text = (form[name] ?? '').trim().toLowerCase();
  if (text === '') return null;
  const rate = parseRate(kind, text);
  if (rate !== undefined) return rate;
  throw fieldError(
    'invalid_request',
    name,
    `Type a whole number from 1 to ${kind.max}${kind.canBeNone ? ', or none' : ''}.`,
  );
}

const ofMerchant = termsRoutes({
  name: 'rate-limits',
  heading: 'Rate limits',
  effect: 'Every process applies a change within three seconds.',
  hasDefault: false,
  fields: (visit, { merchant }) =>
    rateLimitKinds.map((kind) => limitField(kind, visit, merchant ?? { testMode: false })),
  values: async (_db, { merchant }) => rateValues(merchant ?? {}),
  async set(tx, { merchant }, form) {
    assert(merchant, 'rate limits are of a merchant');
    const limits = Object.fromEntries(rateLimitKinds.map((kind) => [kind.field, rateOf(kind, form)]));
    await setRateLimits(tx, merchant.id, limits);
  },
});

const ofPage = formRoutes<MerchantOfBusiness>({
  path: '/businesses/:id/page-rate-limits',
  action: 'terms.manage',
  load: loadMerchant,
  view: ({ business, environment }) => ({
    heading: `Rate limit of one link or counter, ${environment}`,
    effect: html`<p>${foreignText(business.name)}. For a page that needs more than the others, such as a ticket sale.</p>`,
    fields: [
      {
        ...{ kind: 'select', name: 'kind', label: 'Page' },
        options: [
          { value: 'link', text: 'Payment link' },
          { value: 'counter', text: 'Counter' },
        ],
      },
      { kind: 'text', name: 'page', label: 'Its id', isRequired: true },
      {
        ...{ kind: 'text', name: 'pages', label: 'New payments a second' },
        hint: 'Empty: the limit of the business. “none”: no limit.',
      },
    ],
    button: 'Save',
    back: { href: `/businesses/${business.id}`, text: 'Keep it' },
  }),
  async submit(visit, { subject: { business, merchant }, input: { form } }) {
    const pages = rateLimitKinds.find(({ name }) => name === 'pages');
    assert(pages, 'pages have a rate limit');
    const rate = rateOf(pages, form);
    const { kind = '', page = '' } = form;
    const type = kind === 'counter' ? 'counter' : 'link';
    await visit.money.db.withTransaction(async (tx) => {
      await lockTerms(tx);
      const found =
        type === 'link' ? await getLink(tx, merchant.id, page.trim()) : await getTerminal(tx, merchant.id, page.trim());
      if (found.rateLimit === rate) return;
      if (type === 'link') await setLinkRateLimit(tx, found, rate);
      else await setTerminalRateLimit(tx, found, rate);
      audit(tx, visit, {
        ...{ action: 'page-rate-limits.set', businessId: business.id, testMode: merchant.testMode },
        ...{
          object: { type, id: found.id },
          sent: { pages: rateText(rate) },
          before: { pages: rateText(found.rateLimit) },
        },
      });
    });
  },
});

export const rateLimitTerms: readonly ConsoleRoute[] = [...ofMerchant, ...ofPage];
