import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../../api/app-error.ts';
import { html } from '../../kit/html.ts';
import { removeLogo, setLogo } from '../../merchants/logo/merchant-logo.ts';
import { pngDimensions } from '../../merchants/logo/png-check.ts';
import { findMerchantById } from '../../merchants/manage-keys.ts';
import { lockTerms, setAppearance } from '../../merchants/manage-rules.ts';
import { foreignText } from '../../pages/page-text.ts';
import { changedMeanwhile } from '../../portal/patterns/form-page.ts';
import {
  appearanceByField,
  colourField,
  contactFields,
  logoField,
  logoFormBytesMax,
  readAppearance,
  readLogo,
} from '../../portal/records/appearance-form.ts';
import { actAudited, audit } from '../audit/record.ts';
import { formRoutes, type ConsoleRoute } from '../console-route.ts';
import { loadMerchant, type MerchantOfBusiness } from './business.ts';

const shared = { action: 'businesses.write', load: loadMerchant } as const;
const fields = [colourField, ...contactFields];

const appearance = formRoutes<MerchantOfBusiness>({
  ...{ ...shared, path: '/businesses/:id/appearance' },
  view: ({ business, merchant, environment }) => ({
    heading: `Colour and contact, ${environment}`,
    effect: html`<p>${foreignText(business.name)}. Payers see the contact where a page says to ask the shop.</p>`,
    fields: fields.map(({ field }) => field),
    values: Object.fromEntries(
      Object.entries(appearanceByField(fields, merchant)).map(([name, value]) => [name, value ?? '']),
    ),
    button: 'Save',
    back: { href: `/businesses/${business.id}`, text: 'Keep it' },
  }),
  async submit(visit, { subject: { business, merchant }, input: { form } }) {
    const changed = readAppearance(fields, form);
    const [sent, shown] = [appearanceByField(fields, changed), appearanceByField(fields, merchant)];
    await visit.money.db.withTransaction(async (tx) => {
      await lockTerms(tx);
      const before = appearanceByField(fields, (await findMerchantById(tx, merchant.id)) ?? merchant);
      if (isDeepStrictEqual(before, sent)) return;
      // Two who were shown the same may press at the same moment, and the business may change it too.
      if (!isDeepStrictEqual(before, shown)) throw changedMeanwhile;
      await setAppearance(tx, merchant.id, changed);
      audit(tx, visit, { action: 'appearance.set', ...ofMerchant({ business, merchant }), sent, before });
    });
  },
});

const logo = formRoutes<MerchantOfBusiness>({
  ...{ ...shared, path: '/businesses/:id/logo', uploadBytesMax: logoFormBytesMax },
  view: ({ business, environment }) => ({
    heading: `Logo, ${environment}`,
    effect: html`<p>Payers see it beside the name of ${foreignText(business.name)}, on pages and posters.</p>`,
    fields: [logoField],
    button: 'Use this logo',
    back: { href: `/businesses/${business.id}`, text: 'Keep it' },
  }),
  async submit(visit, { subject: { business, merchant }, input }) {
    const png = readLogo(input);
    const { width, height } = pngDimensions(png);
    const sent = { logo: `${width} × ${height} pixels` };
    const act = { action: 'logo.set', ...ofMerchant({ business, merchant }), sent };
    await actAudited(visit, act, (tx) => setLogo(tx, { merchantId: merchant.id, png, updatedAt: visit.now }));
  },
});

const withoutLogo = formRoutes<MerchantOfBusiness>({
  ...{ ...shared, path: '/businesses/:id/logo/remove' },
  view: ({ business, environment }) => ({
    heading: `Remove the logo, ${environment}?`,
    effect: html`<p>Pages and new posters show the name of ${foreignText(business.name)} alone.</p>`,
    button: 'Remove the logo',
    isDanger: true,
    back: { href: `/businesses/${business.id}`, text: 'Keep it' },
  }),
  async submit(visit, { subject: { business, merchant } }) {
    const act = { action: 'logo.remove', ...ofMerchant({ business, merchant }) };
    await actAudited(visit, act, async (tx) => {
      if (await removeLogo(tx, merchant.id)) return;
      throw new AppError('state_conflict', 'There is no logo. Nothing was done.');
    });
  },
});

/** Of the audit entry. */
function ofMerchant({ business, merchant }: Pick<MerchantOfBusiness, 'business' | 'merchant'>) {
  return {
    ...{ businessId: business.id, testMode: merchant.testMode },
    object: { type: 'merchant', id: merchant.id },
  };
}

export const appearancePages: readonly ConsoleRoute[] = [...appearance, ...logo, ...withoutLogo];
