import type { FastifyRequest } from 'fastify';
import { AppError } from '../../api/app-error.ts';
import { logRefusal } from '../../api/log-refusal.ts';
import type { Log } from '../../kit/log.ts';
import { checkChoice, readChoice, choiceRefusal } from '../checkout/forms.ts';
import type { RefusedCollect } from './collect-page.ts';
import type { CollectTarget, SentForm, StartedPayment } from './collect-targets.ts';
import { hasOtherLabels, readFormId } from './form-id.ts';
import { readAmount } from '../../kit/read-amount.ts';
import type { Html } from '../../kit/html.ts';
import type { Translate } from '../../languages/languages.ts';
import { amountText } from '../page-text.ts';

export interface PaidForm {
  started: StartedPayment;
  sent: SentForm;
}

/** Creates the payment of a form of a link's or counter's page, or finds the one that it created before. */
export async function handleCollectForm(
  target: CollectTarget,
  request: FastifyRequest,
  log: Log,
): Promise<PaidForm | { refused: RefusedCollect }> {
  const { t } = request.language;
  const { model } = target;
  const body = (request.body ?? {}) as Record<string, unknown>;
  const amount = textOf(body['amount']);
  const answers = model.customFields.map((_label, index) => textOf(body[`field_${index}`]));
  const [network, accountNumber] = [textOf(body['network']), textOf(body['account_number'])];
  const refuse = (errors: RefusedCollect['errors'], retryAfterSeconds?: number) => ({
    refused: { amount, answers, network, accountNumber, errors, retryAfterSeconds },
  });
  // The shop has changed its fields meanwhile: nobody's answer may stand under another label than the payer saw, now or after another
  // press.
  if (answers.some((answer) => answer.trim() !== '') && hasOtherLabels(body, model.customFields)) {
    answers.fill('');
    return refuse([{ field: null, message: t('fields-changed') }]);
  }
  const typed = readAmount(amount);
  if ('problem' in typed) return refuse([{ field: 'amount', message: t(typed.problem) }]);
  const formId = readFormId(request.body);
  // Pages of the release before offered no networks: their payers choose on the payment's page.
  const choice = formId === null || model.networks.length === 0 ? null : readChoice(body, model.networks);
  const incomplete = choice && checkChoice(t, choice, model.networks);
  if (incomplete) return refuse(incomplete);
  const total = readAmount(textOf(body['total']));
  const shownTotalMinor = 'problem' in total ? null : total.amountMinor;
  const sent = { amountMinor: typed.amountMinor, shownTotalMinor, answers, formId, choice };
  try {
    return { started: await target.pay(sent, { requestId: request.id }), sent };
  } catch (error) {
    if (!(error instanceof AppError) || error.statusCode >= 500) throw error;
    logRefusal(log, request.id, error);
    const refusal = { error, model, amountMinor: typed.amountMinor };
    return refuse([refusalInWords(t, refusal)], error.retryAfterSeconds);
  }
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 400) : '';
}

interface Refusal {
  error: AppError;
  model: CollectTarget['model'];
  /** What the payer entered. */
  amountMinor: bigint;
}

/** A refused form in the payer's words; the use-case's own are English, for the log. A null field is the whole form. */
function refusalInWords(t: Translate, refusal: Refusal): { field: string | null; message: Html } {
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
