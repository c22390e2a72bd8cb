import { AppError } from '../../api/app-error.ts';
import type { CheckoutView } from '../../payments/checkout-view.ts';
import type { RefusedForm } from './page-model.ts';

type FormErrors = RefusedForm['errors'];

export interface Choice {
  network: string;
  accountNumber: string | null;
}

/** Drops a number that was typed before choosing a network without numbers: it may belong to another network. */
export function readChoice(body: unknown, view: CheckoutView): Choice {
  const network = field(body, 'network');
  const accountNumber = field(body, 'account_number');
  const needsNoNumber = view.networks.some(({ id, numberRequired }) => id === network && !numberRequired);
  return { network, accountNumber: needsNoNumber || accountNumber === '' ? null : accountNumber };
}

/** Null if the form is complete. The use-case checks the number itself. */
export function checkChoice(choice: Choice, view: CheckoutView): FormErrors | null {
  const network = view.networks.find(({ id }) => id === choice.network);
  if (network === undefined) {
    return [{ field: 'network', message: 'Choose the network that you want to pay with.' }];
  }
  if (network.numberRequired && choice.accountNumber === null) {
    return [{ field: 'account_number', message: `Enter the number of your ${network.displayName} wallet.` }];
  }
  return null;
}

/** Ignores spaces and dashes, as codes are copied from messages. */
export function readCode(body: unknown): string {
  return field(body, 'code').replace(/[\s-]/g, '');
}

/** A code of the wrong length uses no attempt. */
export function checkCode(code: string, view: CheckoutView): FormErrors | null {
  const action = view.charge?.nextAction;
  if (action?.type !== 'enter_code' || (code.length === action.length && /^\d+$/.test(code))) return null;
  return [{ field: 'code', message: `The code has ${action.length} digits. Enter all of them.` }];
}

/**
 * The errors to show in the form, or `moved on` if the payment's state has changed since the form was loaded. Rethrows every
 * other error.
 */
export function refusedFormOf(error: unknown): { status: number; errors: FormErrors } | 'moved on' {
  if (!(error instanceof AppError)) throw error;
  if (error.statusCode === 409) return 'moved on';
  if (error.statusCode !== 400 && error.statusCode !== 429) throw error;
  const fields = error.fields ?? [];
  const errors = fields.map(({ path, message }) => ({ field: formField(path), message }));
  return {
    status: error.statusCode,
    errors: errors.length > 0 ? errors : [{ field: null, message: error.message }],
  };
}

/** The API names fields by their path in the body, such as `data.network`. */
function formField(path: string): FormErrors[number]['field'] {
  const name = path.split('.').at(-1);
  return name === 'network' || name === 'account_number' || name === 'code' ? name : null;
}

/** A missing or repeated field counts as empty. */
function field(body: unknown, name: string): string {
  const value = (body as Record<string, unknown> | null | undefined)?.[name];
  return typeof value === 'string' ? value.trim() : '';
}
