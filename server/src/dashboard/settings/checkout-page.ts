import { html, type Html } from '../../kit/html.ts';
import { AppearanceError, readAppearancePart } from '../../merchants/appearance.ts';
import type { FeePayer } from '../../merchants/fees.ts';
import { setAppearance, setFeePayer, setUrlDefaults } from '../../merchants/manage-rules.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import { merchantLogo, pageAppearance } from '../../pages/merchant-appearance.ts';
import { foreignText, cleanText } from '../../pages/page-text.ts';
import { fieldError } from '../../api/app-error.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import { colourField, readPart } from '../../portal/records/appearance-form.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { changedBy } from '../patterns/changed-by.ts';
import { formRoutes } from '../patterns/form-page.ts';
import type { Visit } from '../visit.ts';
import { changeSetting } from './change-setting.ts';
import { ownMerchant, shownAndCurrent } from './own-merchant.ts';
import { feePayerText, feeText } from './setting-texts.ts';
import { settingsPage, type SettingsPanel } from './settings-frame.ts';
import type { UrlDefaults } from '../../merchants/url-defaults.ts';
import { checkUrls } from '../../payments/urls.ts';
import type { Field } from '../../portal/patterns/fields.ts';
import { facts } from '../../portal/patterns/record-page.ts';

/** Of pages without a colour of the merchant's own: `--accent` of style.css. */
const standardColour = '#0b6a55';

const show: DashboardRoute = {
  path: '/settings/checkout',
  action: 'fee_payer.read',
  async handle(visit, input) {
    const merchant = await ownMerchant(visit);
    const by = (action: string) => changedBy(visit, { id: merchant.id, action });
    const panels: SettingsPanel[] = [
      {
        title: 'Colour',
        body: html`${colourBody(visit, merchant, input)}${await by('colour.set')}`,
        changes: [{ href: '/settings/checkout/colour', text: 'Change the colour', needs: 'appearance.manage' }],
      },
      {
        title: 'Who pays the fees',
        body: html`<p>${feePayerText(merchant)}</p><p class="hint">${feeOfPayment(merchant)}</p>
${await by('fee_payer.set')}`,
        changes: [{ href: '/settings/checkout/fees', text: 'Change who pays', needs: 'fee_payer.manage' }],
      },
      {
        title: 'Where payers go afterwards',
        body: html`${urlDefaultsBody(merchant)}${await by('urls.set')}`,
        changes: [{ href: '/settings/checkout/urls', text: 'Change the addresses', needs: 'appearance.manage' }],
      },
    ];
    return { title: 'Checkout', body: settingsPage(visit, 'Checkout', panels) };
  },
};

/** The pay button as payers see it, now and in the colour that somebody tries; buttons have white text on it. */
function colourBody({ base, may }: Visit, merchant: Merchant, { query }: PageInput): Html {
  const current = merchant.pageColour ?? standardColour;
  const tried = query['colour'] === undefined ? null : tryColour(query['colour']);
  const shown = tried !== null && 'colour' in tried ? tried.colour : current;
  return html`${payPreview(merchant, shown)}
${tried !== null && 'problem' in tried && html`<p class="notice wait" role="status">${tried.problem}</p>`}
${
  may('appearance.manage').isAllowed &&
  html`<form method="get" action="${base}/settings/checkout" class="try"><div class="field"><label for="colour">Try a colour</label>
<input id="colour" name="colour" type="color" value="${shown}"></div><button class="button small plain">Preview</button></form>
${
  shown !== current &&
  html`<p><a class="button small" href="${base}/settings/checkout/colour?colour=${encodeURIComponent(shown)}">Use this colour</a></p>`
}`
}`;
}

function tryColour(text: string): { colour: string } | { problem: string } {
  try {
    return { colour: readAppearancePart('pageColour', text) };
  } catch (error) {
    if (error instanceof AppearanceError) return { problem: error.message };
    throw error;
  }
}

// A drawing, because the pages' content policy allows no colours of a merchant's own in style.
function payPreview(merchant: Merchant, colour: string): Html {
  return html`<figure class="preview"><figcaption class="hint">Payers see</figcaption>
<p class="named">${merchantLogo(pageAppearance(merchant))}<strong>${foreignText(merchant.name)}</strong></p>
<svg viewBox="0 0 320 56" role="img" aria-label="The pay button in ${colour}"><rect width="320" height="56" rx="12" fill="${colour}"/>
<text x="160" y="34" text-anchor="middle" font-size="18" font-weight="600" fill="#ffffff">Pay D250.00</text></svg></figure>`;
}

const back = { href: '/settings/checkout', text: 'Keep it' };

const colour = formRoutes<Merchant>({
  path: '/settings/checkout/colour',
  action: 'appearance.manage',
  load: ownMerchant,
  view: (merchant, _visit, { query }) => ({
    heading: 'Colour on checkout',
    effect: html`<p>Buttons and links of your payers’ pages have it.</p>`,
    fields: [colourField.field],
    values: { page_colour: query['colour'] ?? merchant.pageColour ?? '' },
    button: 'Save the colour',
    back,
  }),
  async submit(visit, { subject, input }) {
    const pageColour = readPart('pageColour', 'page_colour', input.form['page_colour'] ?? '');
    const inWords = (merchant: Pick<Merchant, 'pageColour'>) => ({ page_colour: merchant.pageColour });
    const words = { ...shownAndCurrent(visit, subject, inWords), after: inWords({ pageColour }) };
    await changeSetting(visit, { action: 'colour.set', ...words }, (tx) =>
      setAppearance(tx, subject.id, { pageColour }),
    );
  },
});

function feeOfPayment({ collectionFee }: Merchant): string {
  const text = feeText(collectionFee);
  return text === 'None' ? 'The operator charges no fee for payments.' : `Fee of a payment: ${text}.`;
}

const payers: readonly { value: FeePayer; text: string }[] = [
  { value: 'business', text: 'We pay them, out of what we get' },
  { value: 'customer', text: 'Payers pay them, on top of the amount' },
];

const feePayer = formRoutes<Merchant>({
  path: '/settings/checkout/fees',
  action: 'fee_payer.manage',
  load: ownMerchant,
  view: (merchant) => ({
    heading: 'Who pays the fees?',
    effect: html`<p>${feeOfPayment(merchant)} It counts for new payments; those that exist keep theirs.</p>`,
    fields: [{ kind: 'select', name: 'fee_payer', label: 'Fees of payments', options: payers, isRequired: true }],
    values: { fee_payer: merchant.collectionFee.payer },
    button: 'Save who pays',
    back,
  }),
  async submit(visit, { subject, input }) {
    const chosen = payers.find(({ value }) => value === input.form['fee_payer'])?.value;
    if (chosen === undefined) throw fieldError('invalid_request', 'fee_payer', 'Choose who pays the fees.');
    const inWords = ({ collectionFee }: Merchant) => ({ fee_payer: collectionFee.payer });
    const words = { ...shownAndCurrent(visit, subject, inWords), after: { fee_payer: chosen } };
    await changeSetting(visit, { action: 'fee_payer.set', ...words }, (tx) => setFeePayer(tx, subject.id, chosen));
  },
});

interface UrlField {
  part: keyof UrlDefaults;
  field: Field & { name: `data.${string}` };
}

/** Named as in the API, so that what is wrong with them comes back beside them. */
const urlFields: readonly UrlField[] = [
  {
    part: 'defaultReturnUrl',
    field: {
      kind: 'url',
      name: 'data.return_url',
      label: 'After paying',
      hint: 'Such as https://shop.example/thanks.',
    },
  },
  {
    part: 'defaultCancelUrl',
    field: { kind: 'url', name: 'data.cancel_url', label: 'After cancelling', hint: 'Such as your basket.' },
  },
  {
    part: 'defaultCallbackUrl',
    field: {
      ...{ kind: 'url', name: 'data.callback_url', label: 'Callback URL' },
      hint: 'Gets each payment’s events, besides your webhook endpoints.',
    },
  },
];

/** The addresses as the page of the settings shows them. */
function urlDefaultsBody(merchant: Merchant): Html {
  return html`<p>For payments and payment links that name no addresses of their own.</p>
${facts(urlFields.map(({ part, field }) => [field.label, urlText(merchant[part])]))}`;
}

function urlText(url: string | null): Html {
  return url === null ? html`None` : html`<bdi class="address">${cleanText(url)}</bdi>`;
}

const urlForm = formRoutes<Merchant>({
  path: '/settings/checkout/urls',
  action: 'appearance.manage',
  load: ownMerchant,
  view: (merchant) => ({
    heading: 'Where payers go afterwards',
    effect: html`<p>For new payments and payment links that name no addresses of their own; those that exist keep theirs.
Payers at a counter stay there.</p>`,
    fields: urlFields.map(({ field }) => field),
    values: Object.fromEntries(urlFields.map(({ part, field }) => [field.name, merchant[part] ?? ''])),
    button: 'Save the addresses',
    back,
  }),
  async submit(visit, { subject, input }) {
    const sent = urlFields.map(({ field }) => input.form[field.name]?.trim() || null);
    const [returnUrl = null, cancelUrl = null, callbackUrl = null] = sent;
    checkUrls(visit.money.settings.urlPolicy(visit.testMode), {
      returnUrl,
      cancelUrl,
      callbackUrl,
      skipUrlValidation: false,
    });
    const defaults = { defaultReturnUrl: returnUrl, defaultCancelUrl: cancelUrl, defaultCallbackUrl: callbackUrl };
    const named = (urls: UrlDefaults) =>
      Object.fromEntries(urlFields.map(({ part, field }) => [field.name.replace('data.', ''), urls[part]]));
    const words = { ...shownAndCurrent(visit, subject, named), after: named(defaults) };
    await changeSetting(visit, { action: 'urls.set', ...words }, (tx) => setUrlDefaults(tx, subject.id, defaults));
  },
});

export const checkoutSettings: readonly DashboardRoute[] = [show, ...colour, ...feePayer, ...urlForm];
