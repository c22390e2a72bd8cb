import { html, type Html } from '../../kit/html.ts';
import { setUrlDefaults } from '../../merchants/manage-rules.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import type { UrlDefaults } from '../../merchants/url-defaults.ts';
import { cleanText } from '../../pages/page-text.ts';
import { checkUrls } from '../../payments/urls.ts';
import type { Field } from '../../portal/patterns/fields.ts';
import { facts } from '../../portal/patterns/record-page.ts';
import { change } from '../patterns/act.ts';
import { formRoutes } from '../patterns/form-page.ts';
import { ownMerchant } from './own-merchant.ts';

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
export function urlDefaultsBody(merchant: Merchant): Html {
  return html`<p>For payments and payment links that name no addresses of their own.</p>
${facts(urlFields.map(({ part, field }) => [field.label, urlText(merchant[part])]))}`;
}

function urlText(url: string | null): Html {
  return url === null ? html`None` : html`<bdi class="address">${cleanText(url)}</bdi>`;
}

export const urlForm = formRoutes<Merchant>({
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
    back: { href: '/settings/checkout', text: 'Keep it' },
  }),
  async submit(visit, { subject, input }) {
    const [returnUrl, cancelUrl, callbackUrl] = urlFields.map(({ field }) => input.form[field.name]?.trim() || null);
    const sent = { returnUrl: returnUrl ?? null, cancelUrl: cancelUrl ?? null, callbackUrl: callbackUrl ?? null };
    checkUrls(visit.money.settings.urlPolicy(visit.testMode), { ...sent, skipUrlValidation: false });
    const defaults: UrlDefaults = {
      defaultReturnUrl: sent.returnUrl,
      defaultCancelUrl: sent.cancelUrl,
      defaultCallbackUrl: sent.callbackUrl,
    };
    const named = (urls: UrlDefaults) =>
      Object.fromEntries(urlFields.map(({ part, field }) => [field.name.replace('data.', ''), urls[part]]));
    const words = { before: named(subject), after: named(defaults) };
    const object = { type: 'settings', id: subject.id };
    await change(visit, { action: 'urls.set', object, ...words }, (tx) => setUrlDefaults(tx, subject.id, defaults));
  },
});
