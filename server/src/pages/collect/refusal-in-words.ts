import type { AppError } from '../../api/app-error.ts';
import type { Html } from '../../kit/html.ts';
import type { Translate } from '../../languages/languages.ts';
import { choiceRefusal } from '../checkout/forms.ts';
import { amountText } from '../page-text.ts';
import type { CollectTarget } from './collect-targets.ts';

interface Refusal {
  error: AppError;
  model: CollectTarget['model'];
  /** What the payer entered. */
  amountMinor: bigint;
}

/** A refused form in the payer's words; the use-case's own are English, for the log. A null field is the whole form. */
export function refusalInWords(t: Translate, refusal: Refusal): { field: string | null; message: Html } {
  const { error, model } = refusal;
  const field = error.fields?.[0]?.path ?? null;
  if (error.code === 'rate_limited') return { field: null, message: t('busy-here') };
  if (field?.startsWith('custom_fields.') === true) return { field, message: t('answer-too-long') };
  if (field === 'network' || field === 'account_number') return { field, message: choiceRefusal(t, error, field) };
  if (field !== 'amount') return { field: null, message: t('shop-cannot') };
  // The form of a fixed amount has no field for it.
  return model.amountMinor === null
    ? { field, message: amountRefusal(t, refusal) }
    : { field: null, message: t('amount-changed') };
}

function amountRefusal(t: Translate, { error, model, amountMinor }: Refusal): Html {
  const { minMinor, maxMinor } = model.bounds;
  if (error.code === 'network_not_available') return t('amount-whole');
  if (amountMinor < minMinor) return t('amount-too-small', { amount: amountText(minMinor) });
  if (amountMinor > maxMinor) return t('amount-too-large', { amount: amountText(maxMinor) });
  return t('amount-not-taken');
}
