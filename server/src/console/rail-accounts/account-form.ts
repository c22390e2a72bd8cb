import { fieldError } from '../../api/app-error.ts';
import { isUuid } from '../../kit/ids.ts';
import type { ConnectorKind, KindField } from '../../networks/connector-kind.ts';
import type { Field } from '../../portal/patterns/fields.ts';
import { fieldsOf, type TypedFields } from '../../rail-accounts/account-fields.ts';
import { listBusinesses } from '../businesses/business.ts';
import type { ConsoleVisit } from '../visit.ts';

/** The fields of a kind; in a form that replaces values none is required. */
export function formFields(kind: ConnectorKind, { isNew }: { isNew: boolean }): Field[] {
  const fields = fieldsOf(kind).map((field) => formField(field, { isNew }));
  if (!kind.hasBaseUrl) return fields;
  const baseUrl = { kind: 'text', name: 'base-url', label: 'Base URL', isRequired: isNew } as const;
  return [{ ...baseUrl, hint: 'Of the API, such as https://api.network.example' }, ...fields];
}

function formField({ name, label, hint, type, choices, isRequired }: KindField, { isNew }: { isNew: boolean }): Field {
  const base = { name, label, isRequired: isNew && isRequired, ...(hint !== undefined && { hint }) };
  if (choices) {
    const options = [
      { value: '', text: isNew ? 'As its kind has them' : 'Unchanged' },
      ...choices.map((value) => ({ value, text: value })),
    ];
    return { ...base, kind: 'select', options };
  }
  if (type === 'json') return { ...base, kind: 'area', hint: `${hint ?? 'JSON'}. Paste it here` };
  return { ...base, kind: type === 'secret' ? 'secret' : 'text' };
}

/** What was typed into the fields of a kind. */
export function typedFields(kind: ConnectorKind, form: Readonly<Record<string, string>>): TypedFields {
  return Object.fromEntries(fieldsOf(kind).map(({ name }) => [name, form[name]]));
}

/** Null where nothing was typed. */
export function typedText(form: Readonly<Record<string, string>>, name: string): string | null {
  const text = form[name]?.trim() ?? '';
  return text === '' ? null : text;
}

/** The business that an account is for. Throws AppError that names `business`. */
export async function readBusiness(visit: ConsoleVisit, typed: string | null): Promise<string | null> {
  if (typed === null) return null;
  const known = isUuid(typed) && (await listBusinesses(visit)).some(({ id }) => id === typed);
  if (!known) throw fieldError('invalid_request', 'business', 'There is no business with this id.');
  return typed;
}

/** Throws AppError that names `order`. */
export function readOrder(typed: string | null): bigint | null {
  if (typed === null) return null;
  if (!/^\d{1,4}$/.test(typed)) throw fieldError('invalid_request', 'order', 'An order is a number from 1 to 1000.');
  return BigInt(typed);
}
