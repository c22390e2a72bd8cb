import type { Transaction } from '../../kit/db.ts';
import { html, type Html } from '../../kit/html.ts';
import type { MerchantAppearance } from '../../merchants/appearance.ts';
import { getBusiness, renameBusiness, type Business } from '../../merchants/business-status.ts';
import { setAppearance } from '../../merchants/manage-rules.ts';
import { removeLogo, setLogo } from '../../merchants/logo/merchant-logo.ts';
import { pngDimensions } from '../../merchants/logo/png-check.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import { merchantLogoPath } from '../../pages/logos/logo-pages.ts';
import { foreignText, formatNumber } from '../../pages/page-text.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { changedBy } from '../patterns/changed-by.ts';
import {
  appearanceByField,
  contactFields,
  logoField,
  logoFormBytesMax,
  readAppearance,
  readLogo,
} from '../../portal/records/appearance-form.ts';
import { formRoutes } from '../patterns/form-page.ts';
import { facts } from '../../portal/patterns/record-page.ts';
import { changeSetting } from './change-setting.ts';
import { ownMerchant, shownAndCurrent } from './own-merchant.ts';
import { settingsPage, type SettingsPanel } from './settings-frame.ts';

const show: DashboardRoute = {
  path: '/settings/business',
  action: 'fee_payer.read',
  async handle(visit) {
    const merchant = await ownMerchant(visit);
    const business = await getBusiness(visit.accounts.db, merchant.businessId);
    const by = (action: string, id = merchant.id) => changedBy(visit, { id, action });
    const name = html`${facts([['Name', foreignText(business.name)]])}
${business.liveApprovedAt !== null && html`<p class="hint">The operator approved this name for live payments, and changes it if you ask.</p>`}
${await by('business.rename', business.id)}`;
    const panels: SettingsPanel[] = [
      {
        title: 'Name',
        body: name,
        changes:
          business.liveApprovedAt === null
            ? [{ href: '/settings/business/name', text: 'Change the name', needs: 'business.rename' }]
            : [],
      },
      {
        title: 'Contact for payers',
        body: html`<p>Payers’ pages show it where they say to ask the shop.</p>${contactFacts(merchant)}${await by('contact.set')}`,
        changes: [{ href: '/settings/business/contact', text: 'Change the contact', needs: 'appearance.manage' }],
      },
      {
        title: 'Logo',
        body: html`<p>On payers’ pages and posters.</p>${logoOf(merchant)}${await by('logo.set')}`,
        changes: [
          { href: '/settings/business/logo', text: 'Choose a logo', needs: 'appearance.manage' },
          ...(merchant.logoSetAt === null
            ? []
            : [{ href: '/settings/business/logo/remove', text: 'Remove it', needs: 'appearance.manage' as const }]),
        ],
      },
    ];
    return { title: 'Business', body: settingsPage(visit, 'Business', panels) };
  },
};

function contactFacts({ contactPhone, contactWhatsapp, contactEmail, contactText }: MerchantAppearance): Html {
  const none = 'None';
  return facts([
    ['Phone', contactPhone === null ? none : formatNumber(contactPhone)],
    ['WhatsApp', contactWhatsapp === null ? none : formatNumber(contactWhatsapp)],
    ['E-mail', contactEmail ?? none],
    ['In your words', contactText === null ? none : foreignText(contactText)],
  ]);
}

function logoOf({ id, logoSetAt }: Merchant): Html {
  if (logoSetAt === null) return html`<p>No logo yet.</p>`;
  return html`<p><img class="logo" src="${merchantLogoPath({ id, logoSetAt })}" alt="Your logo" width="80" height="80"></p>`;
}

const back = { href: '/settings/business', text: 'Keep it' };

const rename = formRoutes<Business>({
  path: '/settings/business/name',
  action: 'business.rename',
  load: ({ accounts, merchant }) => getBusiness(accounts.db, merchant.businessId),
  view: ({ name }) => ({
    heading: 'Name of the business',
    effect: html`<p>Payers see it on every page, in test and live.</p>`,
    fields: [{ kind: 'text', name: 'name', label: 'Name', isRequired: true }],
    values: { name },
    button: 'Save the name',
    back,
  }),
  async submit(visit, { subject, input }) {
    const name = (input.form['name'] ?? '').trim();
    const current = async (tx: Transaction) => ({ name: (await getBusiness(tx, subject.id)).name });
    const renaming = { action: 'business.rename', before: { name: subject.name }, after: { name }, isForBoth: true };
    await changeSetting(visit, { ...renaming, current }, (tx) => renameBusiness(tx, subject.id, name));
  },
});

const contact = formRoutes<Merchant>({
  path: '/settings/business/contact',
  action: 'appearance.manage',
  load: ownMerchant,
  view: (merchant) => ({
    heading: 'Contact for payers',
    effect: html`<p>Payers see it where a page says to ask the shop. Leave empty what you do not want to show.</p>`,
    fields: contactFields.map(({ field }) => field),
    values: Object.fromEntries(contactFields.map(({ part, field }) => [field.name, merchant[part] ?? ''])),
    button: 'Save the contact',
    back,
  }),
  async submit(visit, { subject, input }) {
    const appearance = readAppearance(contactFields, input.form);
    const inWords = (each: Partial<MerchantAppearance>) => appearanceByField(contactFields, each);
    const words = { ...shownAndCurrent(visit, subject, inWords), after: inWords(appearance) };
    await changeSetting(visit, { action: 'contact.set', ...words }, (tx) => setAppearance(tx, subject.id, appearance));
  },
});

const logo = formRoutes<Merchant>({
  path: '/settings/business/logo',
  action: 'appearance.manage',
  uploadBytesMax: logoFormBytesMax,
  load: ownMerchant,
  view: (merchant) => ({
    heading: 'Logo',
    effect: html`<p>Payers see it beside your name, on pages and posters.</p>${logoOf(merchant)}`,
    fields: [logoField],
    button: 'Use this logo',
    back,
  }),
  async submit(visit, { subject, input }) {
    const { clock } = visit.accounts;
    const png = readLogo(input);
    const { width, height } = pngDimensions(png);
    const after = { logo: `${width} × ${height} pixels` };
    const words = { ...shownAndCurrent(visit, subject, logoInWords), after };
    await changeSetting(visit, { action: 'logo.set', ...words }, (tx) =>
      setLogo(tx, { merchantId: subject.id, png, updatedAt: clock.now() }),
    );
  },
});

const withoutLogo = formRoutes<Merchant>({
  path: '/settings/business/logo/remove',
  action: 'appearance.manage',
  load: ownMerchant,
  view: (merchant) => ({
    heading: 'Remove the logo?',
    effect: html`<p>Pages and new posters show your name alone.</p>${logoOf(merchant)}`,
    button: 'Remove the logo',
    isDanger: true,
    back,
  }),
  resultOf: ({ logoSetAt }) => (logoSetAt === null ? back.href : undefined),
  async submit(visit, { subject }) {
    const words = { ...shownAndCurrent(visit, subject, logoInWords), after: { logo: null } };
    await changeSetting(visit, { action: 'logo.remove', ...words }, (tx) => removeLogo(tx, subject.id));
  },
});

/** Its time tells one logo from another. */
function logoInWords({ logoSetAt }: Merchant) {
  return { logo: logoSetAt && `set ${logoSetAt.toISOString()}` };
}

export const businessPages: readonly DashboardRoute[] = [show, ...rename, ...contact, ...logo, ...withoutLogo];
