import { AppError } from '../../api/app-error.ts';
import type { Html } from '../../kit/html.ts';
import { typedDigits } from '../../kit/typed-digits.ts';
import type { Translate } from '../../languages/languages.ts';
import { CodeRefusedError } from '../../payments/apply-response.ts';
import type { CheckoutNetwork, CheckoutView } from '../../payments/checkout-view.ts';
import { TypedIdRefusedError } from '../../payments/typed-id.ts';
import { foreignText } from '../page-text.ts';
import type { RefusedForm } from './page-model.ts';

type FormErrors = RefusedForm['errors'];

export interface Choice {
  network: string;
  accountNumber: string | null;
}

/** Drops a number that was typed before choosing a network without numbers: it may belong to another network. */
export function readChoice(body: unknown, networks: readonly CheckoutNetwork[]): Choice {
  const network = field(body, 'network');
  const accountNumber = typedDigits(field(body, 'account_number'));
  const needsNoNumber = networks.some(({ id, numberRequired }) => id === network && !numberRequired);
  return { network, accountNumber: needsNoNumber || accountNumber === '' ? null : accountNumber };
}

/** Null if the form is complete. The use-case checks the number itself. */
export function checkChoice(t: Translate, choice: Choice, networks: readonly CheckoutNetwork[]): FormErrors | null {
  const network = networks.find(({ id }) => id === choice.network);
  if (network === undefined) return [{ field: 'network', message: t('network-missing') }];
  if (network.numberRequired && choice.accountNumber === null) {
    const message = t('number-missing', { network: foreignText(network.displayName) });
    return [{ field: 'account_number', message }];
  }
  return null;
}

/** Ignores spaces and dashes, as codes are copied from messages. */
export function readCode(body: unknown): string {
  return typedDigits(field(body, 'code')).replace(/[\s-]/g, '');
}

/** The transaction id that the payer found in the network's message. */
export function readTransactionId(body: unknown): string {
  return typedDigits(field(body, 'transaction_id'));
}

/** The attempt that a page shows; null for a page of an earlier release. */
export function readAttempt(body: unknown): string | null {
  return field(body, 'attempt') || null;
}

/** A code of the wrong length uses no attempt. */
export function checkCode(t: Translate, code: string, view: CheckoutView): FormErrors | null {
  const action = view.charge?.nextAction;
  if (action?.type !== 'enter_code' || (code.length === action.length && /^\d+$/.test(code))) return null;
  return [{ field: 'code', message: t('code-length', { digits: action.length }) }];
}

/**
 * The errors to show in the form, or `movedOn` if the payment's state has changed since the form was loaded. Rethrows every
 * other error.
 */
export function refusedFormOf(
  t: Translate,
  error: unknown,
): { status: number; errors: FormErrors } | { movedOn: true } {
  if (!(error instanceof AppError)) throw error;
  const { statusCode: status } = error;
  if (status === 409) return { movedOn: true };
  if (status !== 400 && status !== 429) throw error;
  const refused = formField(error.fields?.[0]?.path ?? '');
  return { status, errors: [{ field: refused, message: messageFor(t, error, refused) }] };
}

/** The error in the payer's words; the API's own are for developers, and English. */
function messageFor(t: Translate, error: AppError, refused: FormErrors[number]['field']): Html {
  if (error.statusCode === 429) return t('too-many-tries');
  switch (refused) {
    case 'network':
    case 'account_number':
      return choiceRefusal(t, error, refused);
    case 'code':
      return codeRefusal(t, error);
    case 'transaction_id':
      return idRefusal(t, error);
    case null:
      return t('not-accepted');
  }
}

/** Not every network says how many tries are left. */
function codeRefusal(t: Translate, error: AppError): Html {
  const tries = error instanceof CodeRefusedError ? error.attemptsLeft : null;
  return tries === null ? t('code-wrong-again') : t('code-wrong', { tries });
}

function idRefusal(t: Translate, error: AppError): Html {
  const tries = error instanceof TypedIdRefusedError ? error.triesLeft : null;
  return tries === null ? t('id-form') : t('id-wrong', { tries });
}

/** A refused network or number. */
export function choiceRefusal(t: Translate, error: AppError, refused: 'network' | 'account_number'): Html {
  if (refused === 'network') return t('network-refused');
  return t(error.code === 'account_number_invalid' ? 'number-invalid' : 'number-busy');
}

const refusedFields = ['network', 'account_number', 'code', 'transaction_id'] as const;

/** The API names fields by their path in the body, such as `data.network`. */
function formField(path: string): FormErrors[number]['field'] {
  const name = path.split('.').at(-1);
  return refusedFields.find((refused) => refused === name) ?? null;
}

/** A missing or repeated field counts as empty. */
function field(body: unknown, name: string): string {
  const value = (body as Record<string, unknown> | null | undefined)?.[name];
  return typeof value === 'string' ? value.trim() : '';
}
