import type { FastifyReply, FastifyRequest } from 'fastify';
import { html, type Html } from '../kit/html.ts';
import { PublicError } from '../kit/public-error.ts';
import { fieldError, generalErrors } from '../pages/form-errors.ts';

/** A form as it was sent, or as it is first shown. */
export interface FormState {
  values: Readonly<Record<string, string>>;
  errors: readonly { field: string | null; message: string }[];
}

export const emptyForm: FormState = { values: {}, errors: [] };

/** The fields of a posted form; a field that was sent twice counts as its last. */
export function readForm(request: FastifyRequest): Record<string, string> {
  const fields = (request.body ?? {}) as Record<string, unknown>;
  const texts = Object.entries(fields).map(([name, value]) => [
    name,
    String(Array.isArray(value) ? value.at(-1) : value),
  ]);
  return Object.fromEntries(texts) as Record<string, string>;
}

/** The form with what is wrong about it. Throws what is no refusal of the form's content. */
export function refusedForm(values: Record<string, string>, error: unknown): { status: number; form: FormState } {
  if (!(error instanceof PublicError) || error.statusCode >= 500) throw error;
  const fields = error.fields ?? [];
  const errors =
    fields.length > 0
      ? fields.map(({ path, message }) => ({ field: path, message }))
      : [{ field: null, message: error.message }];
  return { status: error.statusCode, form: { values, errors } };
}

/** Handles a posted form; `show` draws it once more where `submit` refuses it, with what is wrong about it. */
export async function submitForm(
  request: FastifyRequest,
  show: (form: FormState, status: number) => Promise<FastifyReply>,
  submit: (values: Record<string, string>) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const values = readForm(request);
  try {
    return await submit(values);
  } catch (error) {
    const { status, form } = refusedForm(values, error);
    return show(form, status);
  }
}

interface TextField {
  name: string;
  label: string;
  type?: 'text' | 'email' | 'password' | 'tel' | 'url' | 'date' | 'search';
  /** As the HTML standard names it: `username`, `current-password`, `one-time-code`. */
  autocomplete: string;
  hint?: string;
  inputmode?: 'numeric' | 'decimal' | 'email';
  /** Where a page has several fields of one name. */
  id?: string;
  isOptional?: boolean;
}

/** A field with its label, hint and error. Everything that was typed comes back, except secrets. */
export function textField({ values, errors }: FormState, field: TextField): Html {
  const { name, label, type = 'text', autocomplete, hint, inputmode, id = name, isOptional = false } = field;
  const error = errors.find((each) => each.field === name);
  const described = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(' ');
  return html`<div class="field">
<label for="${id}">${label}</label>
<input id="${id}" name="${name}" type="${type}" autocomplete="${autocomplete}" ${!isOptional && 'required'}
${inputmode && html`inputmode="${inputmode}"`} ${type === 'email' && html`spellcheck="false" autocapitalize="none"`}
${error && html`aria-invalid="true" autofocus`} ${described !== '' && html`aria-describedby="${described}"`}
value="${type === 'password' || autocomplete === 'one-time-code' ? '' : (values[name] ?? '')}">
${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
${error && fieldError(name, error.message)}
</div>`;
}

/** What is wrong with the whole form, and with fields that the form does not show. */
export function formSummary({ errors }: FormState, shown: readonly string[]): Html {
  return generalErrors(
    errors.map((error) => (error.field !== null && shown.includes(error.field) ? error : { ...error, field: null })),
  );
}
