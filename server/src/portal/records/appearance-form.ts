import { fieldError } from '../../api/app-error.ts';
import { AppearanceError, readAppearancePart, type MerchantAppearance } from '../../merchants/appearance.ts';
import { logoBytesMax, pngProblem } from '../../merchants/logo/png-check.ts';
import type { Field } from '../patterns/fields.ts';
import type { PageInput } from '../patterns/page-route.ts';

/** A part of a merchant's appearance, as a form has it. */
export interface AppearanceField {
  part: keyof MerchantAppearance;
  field: Field;
}

export const contactFields: readonly AppearanceField[] = [
  { part: 'contactPhone', field: { kind: 'tel', name: 'contact_phone', label: 'Phone', hint: 'Such as 700 1234.' } },
  {
    part: 'contactWhatsapp',
    field: { kind: 'tel', name: 'contact_whatsapp', label: 'WhatsApp', hint: 'Such as 700 1234.' },
  },
  {
    part: 'contactEmail',
    field: { kind: 'email', name: 'contact_email', label: 'E-mail', hint: 'Such as shop@example.gm.' },
  },
  {
    part: 'contactText',
    field: {
      ...{ kind: 'text', name: 'contact_text', label: 'In your words' },
      hint: 'One line, such as: at the counter until 17:00.',
    },
  },
];

export const colourField: AppearanceField = {
  part: 'pageColour',
  field: {
    ...{ kind: 'text', name: 'page_colour', label: 'Colour' },
    hint: 'Such as #0b6a55, dark enough for white text. Leave empty for the standard green.',
  },
};

/** Null for an empty field. Throws AppError that names the form's field. */
export function readPart(field: keyof MerchantAppearance, name: string, text: string): string | null {
  if (text.trim() === '') return null;
  try {
    return readAppearancePart(field, text);
  } catch (error) {
    if (error instanceof AppearanceError) throw fieldError('invalid_request', name, error.message);
    throw error;
  }
}

/** What was typed into these fields. Throws AppError that names a field. */
export function readAppearance(
  fields: readonly AppearanceField[],
  form: PageInput['form'],
): Partial<MerchantAppearance> {
  return Object.fromEntries(fields.map(({ part, field: { name } }) => [part, readPart(part, name, form[name] ?? '')]));
}

/** An appearance under the names of the fields. */
export function appearanceByField(
  fields: readonly AppearanceField[],
  appearance: Partial<MerchantAppearance>,
): Record<string, string | null> {
  return Object.fromEntries(fields.map(({ part, field }) => [field.name, appearance[part] ?? null]));
}

/** The file, and the fields and boundaries around it. */
export const logoFormBytesMax = logoBytesMax + 8 * 1_024;

export const logoField: Field = {
  ...{ kind: 'file', name: 'logo', label: 'Picture', accept: 'image/png', isRequired: true },
  hint: 'A PNG of at most 200 kB and 2000 × 2000 pixels, best a square.',
};

/** The picture that was sent. Throws AppError that names the field. */
export function readLogo({ files }: PageInput): Uint8Array {
  const png = files['logo'];
  if (!png || png.length === 0) throw fieldError('invalid_request', 'logo', 'Choose a PNG file.');
  const problem = pngProblem(png);
  if (problem !== null) throw fieldError('invalid_request', 'logo', `This file ${problem}.`);
  return png;
}
