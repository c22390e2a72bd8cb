import { AppError } from '../../kit/app-error.ts';
import type { CheckoutView } from '../../payments/checkout-view.ts';
import type { RefusedForm } from './page-model.ts';

type FormErrors = RefusedForm['errors'];

export interface Choice {
  network: string;
  accountNumber: string | null;
}

/** A number typed before a network was chosen that asks for none is left out: it may be another network's. */
export function readChoice(body: unknown, view: CheckoutView): Choice {
  const network = field(body, 'network');
  const accountNumber = field(body, 'account_number');
  const needsNoNumber = view.networks.some(({ id, numberRequired }) => id === network && !numberRequired);
  return { network, accountNumber: needsNoNumber || accountNumber === '' ? null : accountNumber };
}

/** Null when the choice can be sent on; whether the number is a usable one is not for the page to judge. */
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

/** Digits as people copy them from a message: spaces and dashes do not count. */
export function readCode(body: unknown): string {
  return field(body, 'code').replace(/[\s-]/g, '');
}

/** A code of the wrong length costs no try. */
export function checkCode(code: string, view: CheckoutView): FormErrors | null {
  const action = view.charge?.nextAction;
  if (action?.type !== 'enter_code' || (code.length === action.length && /^\d+$/.test(code))) return null;
  return [{ field: 'code', message: `The code has ${action.length} digits. Enter all of them.` }];
}

/**
 * What a refusal says about the form, or that the payment is no longer where the form thought it was. Anything that is
 * not a refusal is thrown on.
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

/** The API names fields with their place in a body, as `data.network`. */
function formField(path: string): FormErrors[number]['field'] {
  const name = path.split('.').at(-1);
  return name === 'network' || name === 'account_number' || name === 'code' ? name : null;
}

/** A field that is missing, or was sent twice, counts as empty. */
function field(body: unknown, name: string): string {
  const value = (body as Record<string, unknown> | null | undefined)?.[name];
  return typeof value === 'string' ? value.trim() : '';
}
