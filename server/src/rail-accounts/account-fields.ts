import { fieldError } from '../api/app-error.ts';
import { parseStrictJsonBytes, type JsonObject, type JsonValue } from '../kit/strict-json.ts';
import type { ConnectorKind, KindField } from '../networks/connector-kind.ts';
import { amountRules, amountsSetting, type RailAccount, type Secrets } from './rail-account.ts';

/** What was typed for an account, by the names of the kind's fields and `amounts`; a file as its text. */
export type TypedFields = Readonly<Record<string, string | undefined>>;

const amountsField: KindField = {
  name: amountsSetting,
  label: 'Amounts',
  hint: 'whole: dalasi only; bututs: also parts of one',
  type: 'text',
  choices: amountRules,
  isRequired: false,
};

// Far below what networks allow, and enough for a thousand payments that wait at once: each is looked up once a minute.
const defaultLookUpsPerSecond = 20;
const lookUpsPerSecondMax = 1_000;

const lookUpsField: KindField = {
  name: 'look-ups-per-second',
  label: 'Look-ups per second',
  hint: `How many each process makes at most, from 1 to ${lookUpsPerSecondMax}; ${defaultLookUpsPerSecond} where it is empty`,
  type: 'text',
  isRequired: false,
};

export function lookUpsPerSecondOf({ settings }: Pick<RailAccount, 'settings'>): number {
  return Number(settings[lookUpsField.name] ?? defaultLookUpsPerSecond);
}

/** The fields of a kind with those that all kinds of APIs have. */
export function fieldsOf(kind: ConnectorKind): readonly KindField[] {
  return kind.hasBaseUrl ? [...kind.fields, amountsField, lookUpsField] : kind.fields;
}

/** What was typed, as settings and as secrets. Throws AppError that names the field. */
export function readFields(kind: ConnectorKind, typed: TypedFields): { settings: JsonObject; secrets: Secrets } {
  const settings: JsonObject = {};
  const secrets: Record<string, string> = {};
  for (const field of fieldsOf(kind)) {
    const text = typed[field.name]?.trim() ?? '';
    if (text === '') continue;
    if (field.type === 'secret') secrets[field.name] = checkSecret(field, text);
    else settings[field.name] = field.type === 'json' ? parseJson(field, text) : checkChoice(field, text);
  }
  const lookUps = lookUpsPerSecondOf({ settings });
  if (!Number.isInteger(lookUps) || lookUps < 1 || lookUps > lookUpsPerSecondMax) {
    const message = `${lookUpsField.label} are a whole number from 1 to ${lookUpsPerSecondMax}.`;
    throw fieldError('invalid_request', lookUpsField.name, message);
  }
  return { settings, secrets };
}

/** Throws AppError that names what is missing, or what the kind says is wrong. Returns the networks that are served. */
export function checkFields(
  kind: ConnectorKind,
  { settings, secrets }: { settings: JsonObject; secrets: Secrets },
): readonly string[] {
  for (const { name, label, isRequired } of kind.fields) {
    if (isRequired && settings[name] === undefined && secrets[name] === undefined) {
      throw fieldError('invalid_request', name, `${label} is missing (--${name}).`);
    }
  }
  try {
    return kind.networksOf(settings);
  } catch (error) {
    const json = kind.fields.find(({ type }) => type === 'json');
    throw fieldError('invalid_request', json?.name ?? kind.fields[0]?.name ?? 'name', (error as Error).message);
  }
}

// Longer than any token in the networks' documents; what is sent in a header has no line breaks.
const secretForm = /^[\x20-\x7e]{1,4096}$/;

function checkSecret({ name, label }: KindField, text: string): string {
  if (secretForm.test(text)) return text;
  throw fieldError('invalid_request', name, `${label} is one line of up to 4,096 letters, digits and signs.`);
}

function checkChoice({ name, label, choices }: KindField, text: string): string {
  if (!choices || choices.includes(text)) return text;
  throw fieldError('invalid_request', name, `${label} are ${choices.join(' or ')}.`);
}

function parseJson({ name, label }: KindField, text: string): JsonValue {
  try {
    return parseStrictJsonBytes(Buffer.from(text));
  } catch (error) {
    throw fieldError('invalid_request', name, `${label} is no JSON: ${(error as Error).message}`);
  }
}
