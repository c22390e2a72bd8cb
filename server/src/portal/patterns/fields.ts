import { fieldError } from '../../api/app-error.ts';
import { amountToJson } from '../../kit/money.ts';
import { html, type Html } from '../../kit/html.ts';
import { readAmount } from '../../kit/read-amount.ts';
import { typedDigits } from '../../kit/typed-digits.ts';
import { fieldError as shownError } from '../../pages/form-errors.ts';
import { textField, type FormState } from '../forms.ts';

interface FieldBase {
  /** The path of the field in the API's body: `data.amount`. Errors come back under the same name. */
  name: string;
  label: string;
  hint?: string;
  isRequired?: boolean;
  /** What an empty field means: `null` sent, an empty list, or an empty object. Default: nothing sent. */
  whenEmpty?: 'null' | 'list' | 'record';
  /** Folded away under “More” until it is used. */
  isMore?: boolean;
}

/** A field of a form. Its kind says how it is drawn, and which JSON value is sent. */
export type Field = FieldBase &
  (
    | { kind: 'text' | 'email' | 'tel' | 'url' | 'date' }
    /** A credential: it is not shown while it is typed, and never comes back. */
    | { kind: 'secret' }
    /** An amount of dalasi, as people write it; above 0, unless it is a limit. */
    | { kind: 'amount'; canBeZero?: boolean }
    | { kind: 'number' }
    /** Several lines of one text. */
    | { kind: 'area' }
    /** A list, one entry on each line. */
    | { kind: 'lines' }
    | { kind: 'select'; options: readonly Option[] }
    /** Sent beside the other fields; the handler finds it in `files`. */
    | { kind: 'file'; accept: string }
    /** True when ticked. */
    | { kind: 'checkbox' }
    /** A list of the ticked options. */
    | { kind: 'checkboxes'; options: readonly Option[] }
    /** Sent as it was drawn, so that a second press says the same. */
    | { kind: 'hidden'; json: 'text' | 'amount' | 'boolean' }
    | RowsField
  );

/** A list whose rows are added by a button that draws the form again, so that it needs no scripts. Empty rows are not sent. */
interface RowsField {
  kind: 'rows';
  /** Relative to the row: `percentage`; the empty name is the row itself. */
  columns: readonly (FieldBase & ({ kind: 'text' | 'number' } | { kind: 'select'; options: readonly Option[] }))[];
  /** How many rows are drawn. */
  count: number;
  /** The text of the button: “Add a member”; null where there can be no more rows. */
  more: string | null;
  /** Two columns, `name` and `value`, that are sent as one object. */
  isRecord?: boolean;
}

export interface Option {
  value: string;
  text: string;
}

const textKinds = ['text', 'email', 'tel', 'url', 'date'] as const;

/** A field with its label, hint and error. */
export function drawField(form: FormState, field: Field): Html {
  const { name, label, hint, isRequired = false } = field;
  if (field.kind === 'hidden') return html`<input type="hidden" name="${name}" value="${form.values[name] ?? ''}">`;
  const kind = field.kind === 'secret' ? 'password' : textKinds.find((each) => each === field.kind);
  if (kind !== undefined || field.kind === 'amount' || field.kind === 'number') {
    return textField(form, {
      ...{ name, label, autocomplete: 'off', isOptional: !isRequired, type: kind ?? 'text' },
      ...(hint !== undefined && { hint }),
      ...(kind === undefined && { inputmode: field.kind === 'amount' ? 'decimal' : 'numeric' }),
    });
  }
  const error = form.errors.find((each) => each.field === name || each.field?.startsWith(`${name}.`));
  const described = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(' ');
  const below = html`${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}${error && shownError(name, error.message)}`;
  const state = html`${error && html`aria-invalid="true" autofocus`} ${described !== '' && html`aria-describedby="${described}"`}`;
  const value = form.values[name] ?? '';
  if (field.kind === 'checkbox') {
    return html`<div class="field"><label class="tick"><input type="checkbox" name="${name}" value="true" ${value === 'true' && 'checked'} ${state}>
<span>${label}</span></label>${below}</div>`;
  }
  if (field.kind === 'file') {
    return html`<div class="field"><label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="file" accept="${field.accept}" ${isRequired && 'required'} ${state}>${below}</div>`;
  }
  if (field.kind === 'checkboxes') {
    const ticked = new Set(value.split(','));
    return html`<fieldset class="field" ${state}><legend>${label}</legend>${field.options.map(
      (option) => html`<label class="tick"><input type="checkbox" name="${name}.${option.value}" value="true"
${ticked.has(option.value) && 'checked'}><span>${option.text}</span></label>`,
    )}${below}</fieldset>`;
  }
  if (field.kind === 'rows') {
    return html`<fieldset class="field rows" ${state}><legend>${label}</legend>
${rowsOf(field).map((row) => html`<div class="row">${row.map((each) => drawField(form, each))}</div>`)}
${
  field.more !== null &&
  html`<p><button class="button small plain" name="more" value="${name}" formnovalidate>${field.more}</button></p>`
}${below}</fieldset>`;
  }
  const control =
    field.kind === 'select'
      ? html`<select id="${name}" name="${name}" ${isRequired && 'required'} ${state}>${field.options.map(
          (option) =>
            html`<option value="${option.value}" ${option.value === value && 'selected'}>${option.text}</option>`,
        )}</select>`
      : html`<textarea id="${name}" name="${name}" rows="4" ${isRequired && 'required'} ${state}>
${value}</textarea>`;
  return html`<div class="field"><label for="${name}">${label}</label>${control}${below}</div>`;
}

/** What was typed as the API's body. Throws AppError that names a field that is no amount or no number. */
export function bodyOfForm(
  fields: readonly Field[],
  values: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const field of fields) {
    const value = jsonOf(field, values);
    if (value !== undefined) setPath(body, field.name.split('.'), value);
  }
  return body;
}

/** The fields of each row of a list. */
function rowsOf({ name, columns, count }: FieldBase & RowsField): Field[][] {
  return Array.from({ length: count }, (_, index) =>
    columns.map((column) => ({
      ...column,
      name: [name, String(index), column.name].filter((part) => part !== '').join('.'),
      label: `${column.label} ${index + 1}`,
    })),
  );
}

/** The names under which a form draws errors beside their fields. */
export function fieldNames(fields: readonly Field[]): string[] {
  return fields.flatMap((field) =>
    field.kind === 'rows' ? [field.name, ...fieldNames(rowsOf(field).flat())] : [field.name],
  );
}

/** The fields' labels, by the names of `fieldNames`. */
export function fieldLabels(fields: readonly Field[]): ReadonlyMap<string, string> {
  return new Map(
    fields.flatMap((field): [string, string][] => [
      [field.name, field.label],
      ...(field.kind === 'rows' ? fieldLabels(rowsOf(field).flat()) : []),
    ]),
  );
}

/** The rows of a posted list without the empty ones, so that the rows of the form are those of the request. */
export function withoutEmptyRows(name: string, values: Readonly<Record<string, string>>): Record<string, string> {
  const isOfRow = (key: string): boolean =>
    key.startsWith(`${name}.`) && /^\d+$/.test(key.slice(name.length + 1).split('.')[0] ?? '');
  const indexOf = (key: string): string => key.slice(name.length + 1).split('.')[0] ?? '';
  const filled = Object.keys(values).filter((key) => isOfRow(key) && (values[key] ?? '').trim() !== '');
  const order = [...new Set(filled.map(indexOf))].toSorted((left, right) => Number(left) - Number(right));
  const others = Object.entries(values).filter(([key]) => !isOfRow(key));
  const rows = Object.entries(values).flatMap(([key, value]): [string, string][] => {
    const index = isOfRow(key) ? order.indexOf(indexOf(key)) : -1;
    const rest = key.slice(name.length + 1 + indexOf(key).length);
    return index === -1 ? [] : [[`${name}.${index}${rest}`, value]];
  });
  return Object.fromEntries([...others, ...rows]);
}

/** How many rows a list is drawn with: those of the record, then those that were sent, and one more after “Add”. */
export function rowCount(
  name: string,
  form: Readonly<Record<string, string>>,
  { stored, max }: { stored: number; max: number },
): number {
  if (Object.keys(form).length === 0) return Math.max(stored, 1);
  const sent = Object.keys(form).filter((key) => key.startsWith(`${name}.`));
  const indexes = sent.map((key) => Number(key.slice(name.length + 1).split('.')[0]));
  const count = Math.max(0, ...indexes.map((index) => index + 1)) + (form['more'] === name ? 1 : 0);
  return Math.min(Math.max(count, 1), max);
}

function sentNames(field: Field): string[] {
  if (field.kind === 'rows') return rowsOf(field).flat().flatMap(sentNames);
  return field.kind === 'checkboxes' ? field.options.map(({ value }) => `${field.name}.${value}`) : [field.name];
}

/** What was typed into these fields, by the names under which the form sends it. */
export function typedValues(
  fields: readonly Field[],
  values: Readonly<Record<string, string>>,
): (readonly [name: string, value: string])[] {
  return fields.flatMap(sentNames).flatMap((name) => {
    const value = values[name];
    return value === undefined ? [] : [[name, value] as const];
  });
}

/** The ticked options of a form, as `drawField` reads them back. */
export function withTickedOptions(
  fields: readonly Field[],
  values: Readonly<Record<string, string>>,
): Record<string, string> {
  const ticked = fields.flatMap((field) =>
    field.kind === 'checkboxes' ? [[field.name, tickedOf(field, values).join(',')] as const] : [],
  );
  return { ...values, ...Object.fromEntries(ticked) };
}

/** Whether what was typed says what the fields hold already, as `FormView.values` has it. */
export function hasValues(
  fields: readonly Field[],
  form: Readonly<Record<string, string>>,
  values: Readonly<Record<string, string>>,
): boolean {
  const typed = withTickedOptions(fields, form);
  return fields
    .flatMap((field) => (field.kind === 'rows' ? rowsOf(field).flat() : [field]))
    .every(({ name, kind }) => kind !== 'file' && isSameValue(kind, typed[name] ?? '', values[name] ?? ''));
}

function isSameValue(kind: Field['kind'], typed: string, held: string): boolean {
  const meaningOf = (text: string): string => {
    if (kind === 'checkbox') return String(text === 'true');
    if (kind === 'checkboxes') return text.split(',').toSorted().join();
    const amount = kind === 'amount' ? readAmount(text) : {};
    return 'amountMinor' in amount ? String(amount.amountMinor) : text.trim();
  };
  return meaningOf(typed) === meaningOf(held);
}

function tickedOf(field: Extract<Field, { kind: 'checkboxes' }>, values: Readonly<Record<string, string>>): string[] {
  return field.options.map(({ value }) => value).filter((value) => values[`${field.name}.${value}`] === 'true');
}

function jsonOf(field: Field, values: Readonly<Record<string, string>>): unknown {
  if (field.kind === 'file') return undefined;
  if (field.kind === 'checkbox') return values[field.name] === 'true';
  if (field.kind === 'hidden' && field.json === 'boolean') return values[field.name] === 'true';
  if (field.kind === 'checkboxes') return tickedOf(field, values);
  if (field.kind === 'rows') return rowsJson(field, values);
  const typed = (values[field.name] ?? '').trim();
  const text = field.kind === 'number' || field.kind === 'tel' ? typedDigits(typed) : typed;
  if (text === '') return whatEmptyMeans(field);
  if (field.kind === 'hidden') return field.json === 'amount' ? amountOf(field, text) : text;
  switch (field.kind) {
    case 'amount':
      return amountOf(field, text);
    case 'number':
      if (/^-?\d{1,9}(?:\.\d{1,4})?$/.test(text)) return Number(text);
      throw fieldError('invalid_request', field.name, 'Type a number.');
    case 'lines':
      return text
        .split(/\r?\n/)
        .map((line) => line.trim())
        .filter((line) => line !== '');
    default:
      return text;
  }
}

function rowsJson(field: FieldBase & RowsField, values: Readonly<Record<string, string>>): unknown {
  if (field.isRecord) return recordJson(field, values);
  const rows = rowsOf(field).flatMap((row): unknown[] => {
    if (row.every(({ name }) => (values[name] ?? '').trim() === '')) return [];
    if (field.columns[0]?.name === '') return row.map((each) => jsonOf(each, values));
    const pairs = row.map((each, index) => [field.columns[index]?.name ?? '', jsonOf(each, values)] as const);
    return [Object.fromEntries(pairs.filter(([, value]) => value !== undefined))];
  });
  return rows.length === 0 ? whatEmptyMeans(field) : rows;
}

function recordJson(field: FieldBase & RowsField, values: Readonly<Record<string, string>>): unknown {
  const pairs = rowsOf(field).flatMap(([name, value]): [string, string][] => {
    const [key, text] = [name, value].map((each) => (values[each?.name ?? ''] ?? '').trim());
    if (!key && !text) return [];
    if (!key) throw fieldError('invalid_request', name?.name ?? field.name, 'Type a name for it.');
    return [[key, text ?? '']];
  });
  const repeated = pairs.find(([key], index) => pairs.findIndex(([other]) => other === key) < index);
  if (repeated) throw fieldError('invalid_request', field.name, `“${repeated[0]}” stands there twice.`);
  return pairs.length === 0 ? whatEmptyMeans(field) : Object.fromEntries(pairs);
}

function whatEmptyMeans({ whenEmpty }: FieldBase): null | [] | Record<string, never> | undefined {
  if (whenEmpty === 'record') return {};
  if (whenEmpty === 'list') return [];
  return whenEmpty === 'null' ? null : undefined;
}

function amountOf(field: Field, text: string): number {
  const { name } = field;
  const typed = readAmount(text);
  if ('amountMinor' in typed) return amountToJson(typed.amountMinor);
  if (typed.problem === 'amount-zero' && field.kind === 'amount' && field.canBeZero) return 0;
  throw fieldError('invalid_request', name, 'Type an amount such as 450 or 1,250.50.');
}

function setPath(body: Record<string, unknown>, [head = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    body[head] = value;
    return;
  }
  const inner = (body[head] ??= {}) as Record<string, unknown>;
  setPath(inner, rest, value);
}
