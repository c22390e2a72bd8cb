import { contrast, contrastMin, withContrast } from '../kit/colour.ts';
import { parseInternationalNumber, PhoneNumberError } from '../kit/phone-number.ts';

/** How a merchant appears on its payers' pages. */
export interface MerchantAppearance {
  /** `#rrggbb`, dark enough for white text; null is the service's own green. */
  pageColour: string | null;
  /** Whom payers can ask: E.164, E.164 with WhatsApp, an e-mail address, and a sentence of the merchant's own. */
  contactPhone: string | null;
  contactWhatsapp: string | null;
  contactEmail: string | null;
  contactText: string | null;
}

/** A part of an appearance that payers could not read or use. */
export class AppearanceError extends Error {
  readonly field: keyof MerchantAppearance;

  constructor(field: keyof MerchantAppearance, message: string) {
    super(message);
    this.field = field;
  }
}

/** What somebody wrote for a part of the appearance, as it is stored. Throws AppearanceError. */
export function readAppearancePart(field: keyof MerchantAppearance, text: string): string {
  return readers[field](text.trim());
}

const readers: Readonly<Record<keyof MerchantAppearance, (text: string) => string>> = {
  pageColour: readColour,
  contactPhone: (text) => readNumber('contactPhone', text),
  contactWhatsapp: (text) => readNumber('contactWhatsapp', text),
  contactEmail: readEmail,
  contactText: readText,
};

/** Buttons have white text on the colour. */
function readColour(text: string): string {
  const colour = text.toLowerCase();
  if (!/^#[0-9a-f]{6}$/.test(colour)) {
    throw new AppearanceError('pageColour', 'A colour is written as #rrggbb, for example #0b6a55.');
  }
  if (contrast(colour, '#ffffff') >= contrastMin) return colour;
  const darker = withContrast(colour, { background: '#ffffff', end: '#000000' });
  const message = `White text on ${colour} is hard to read. The nearest colour on which it is not: ${darker}`;
  throw new AppearanceError('pageColour', message);
}

function readNumber(field: 'contactPhone' | 'contactWhatsapp', text: string): string {
  try {
    return parseInternationalNumber(text, { strict: true });
  } catch (error) {
    if (error instanceof PhoneNumberError) throw new AppearanceError(field, error.message);
    throw error;
  }
}

// The longest address that can be delivered to (RFC 5321, section 4.5.3.1.3).
const emailLengthMax = 254;
// Payers open it as a `mailto:` link: only what needs no escape there, and nothing that is invisible or changes the direction of text.
const emailPattern = /^[\w.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/;

function readEmail(text: string): string {
  if (text.length <= emailLengthMax && emailPattern.test(text)) return text;
  throw new AppearanceError('contactEmail', 'Write an address such as shop@example.gm.');
}

const textLengthMax = 160;

function readText(text: string): string {
  const isShown = text !== '' && text.length <= textLengthMax && !/\p{C}/u.test(text) && text.isWellFormed();
  if (isShown) return text;
  throw new AppearanceError('contactText', `Write one line of at most ${textLengthMax} characters.`);
}
