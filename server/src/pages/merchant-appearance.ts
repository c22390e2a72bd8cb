import { html, type Html } from '../kit/html.ts';
import type { Translate } from '../languages/languages.ts';
import { mix, withContrast } from '../kit/colour.ts';
import type { MerchantAppearance } from '../merchants/appearance.ts';
import { merchantLogoPath } from './logos/logo-pages.ts';
import { foreignText, formatNumber } from './page-text.ts';

/** How a merchant appears on its payers' pages. */
export interface PageAppearance extends MerchantAppearance {
  /** The path of its logo; null is none. */
  logoPath: string | null;
}

export function pageAppearance(merchant: MerchantAppearance & { id: string; logoSetAt: Date | null }): PageAppearance {
  const { id, logoSetAt, pageColour, contactPhone, contactWhatsapp, contactEmail, contactText } = merchant;
  const logoPath = logoSetAt === null ? null : merchantLogoPath({ id, logoSetAt });
  return { pageColour, contactPhone, contactWhatsapp, contactEmail, contactText, logoPath };
}

/** Decorative: the merchant's name follows. */
export function merchantLogo({ logoPath }: PageAppearance): Html {
  if (logoPath === null) return html``;
  return html`<img class="logo" src="${logoPath}" alt="" width="40" height="40">`;
}

/** Whom the payer can ask; nothing where the merchant has set nothing. */
export function shopContact(t: Translate, appearance: PageAppearance): Html {
  const { contactPhone, contactWhatsapp, contactEmail, contactText } = appearance;
  const contacts = [
    contactPhone !== null && html`<a href="tel:${contactPhone}">${formatNumber(contactPhone)}</a>`,
    contactWhatsapp !== null && html`<a href="https://wa.me/${contactWhatsapp.slice(1)}" rel="noopener">WhatsApp</a>`,
    contactEmail !== null && html`<a href="mailto:${contactEmail}">${contactEmail}</a>`,
    contactText !== null && foreignText(contactText),
  ].filter((contact) => contact !== false);
  if (contacts.length === 0) return html``;
  const contact = html`${contacts.map((link, index) => html`${index > 0 && ' '}${link}`)}`;
  return html`<p class="quiet">${t('ask-shop', { contact })}</p>`;
}

/** The custom properties of style.css that follow a merchant's colour. */
export type AccentProperty = '--accent' | '--accent-deep' | '--tint';

export interface Accent {
  light: Record<AccentProperty, string>;
  dark: Record<AccentProperty, string>;
}

const [white, black] = ['#ffffff', '#000000'];
// `--card` and `--on-accent` of the dark scheme. Text on the accent is the lighter of the two, so it decides.
const [darkCard, darkOnAccent] = ['#16201c', '#06231a'];

/** The merchant's colour in both schemes; what is too dark for the dark one is lightened until text in it can be read. */
export function accentOf(colour: string): Accent {
  const light = colour;
  const dark = withContrast(colour, { background: darkOnAccent, end: white });
  return {
    light: { '--accent': light, '--accent-deep': mix(light, black, 0.2), '--tint': mix(white, light, 0.04) },
    dark: { '--accent': dark, '--accent-deep': mix(dark, white, 0.2), '--tint': mix(darkCard, dark, 0.15) },
  };
}
