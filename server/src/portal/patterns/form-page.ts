import { hash } from 'node:crypto';
import { AppError } from '../../api/app-error.ts';
import { html, renderHtml, type Html } from '../../kit/html.ts';
import { isUuid } from '../../kit/ids.ts';
import { PublicError } from '../../kit/public-error.ts';
import { formSummary, refusedForm, type FormState } from '../forms.ts';
import { factorField } from './factor-field.ts';
import {
  bodyOfForm,
  drawField,
  fieldLabels,
  fieldNames,
  hasValues,
  typedValues,
  withoutEmptyRows,
  withTickedOptions,
  type Field,
} from './fields.ts';
import type { PageInput, PageResult, PageRoute, PortalKind } from './page-route.ts';

/** What a form is about, once its subject has been read. */
export interface FormView {
  heading: string;
  /** Above the fields: what will happen, to whom, and what cannot be undone. */
  effect?: Html;
  fields?: readonly Field[];
  /** What the fields hold when the form is first shown; once the record holds something else, nothing of the form is done. */
  values?: Readonly<Record<string, string>>;
  /** The verb and its object: “Refund D20.00”. */
  button: string;
  isDanger?: boolean;
  /** Where “Keep it” or “Back” leads, below the visit's base. */
  back: { href: string; text: string };
  /** Why it cannot be done now; the form is then not drawn. */
  refusal?: Html | undefined;
  /** Below the form, such as another way to do it. */
  below?: Html;
}

export interface Submitted<Subject> {
  subject: Subject;
  input: PageInput;
  /** The body for the API, from the form's fields. */
  body: Record<string, unknown>;
  /** For the idempotency key: the same for each press of this form's button. */
  formId: string;
}

/** What a person confirms once all is typed: who gives and gets what, what cannot be undone. */
export interface Confirmation<Action> {
  heading: string;
  effect: Html;
  /** The verb and its object: “Pay out D450.00”. */
  button: string;
  isDanger?: boolean;
  /** What the confirmed press needs, where that depends on what was typed. */
  action?: Action;
}

/** A page that asks (GET) and does (POST), such as creating a record, changing one, or confirming a refund. */
export interface FormPage<Subject, Kind extends PortalKind> {
  path: string;
  action: Kind['action'];
  /** As `Page` has it. */
  frame?: 'screen';
  /** Of a form with a file: the most that a browser may send. */
  uploadBytesMax?: number;
  /** The names of the lists whose rows people add. */
  rows?: readonly string[];
  /** Reads what the form is about. Throws AppError `not_found`. */
  load(visit: Kind['visit'], input: PageInput): Promise<Subject>;
  view(subject: Subject, visit: Kind['visit'], input: PageInput): FormView;
  /**
   * Where the effect follows from what is typed: the page between the form and `submit`. Does nothing itself; throws what the
   * form is refused for.
   */
  confirm?(visit: Kind['visit'], typed: Omit<Submitted<Subject>, 'formId'>): Promise<Confirmation<Kind['action']>>;
  /**
   * Whether this form has acted already: a second press of its button then leads where the first one led, although what the form
   * said has changed by that.
   */
  hasActed?(visit: Kind['visit'], form: { params: PageInput['params']; formId: string }): Promise<boolean>;
  /** Where this person's press has led that acted, as the subject shows: its response was lost, and they press again. */
  resultOf?(subject: Subject, visit: Kind['visit'], input: PageInput): string | undefined;
  /** Of a form that deletes: where it leads, also once what it is about is gone. */
  gone?: string;
  /**
   * Acts. It leads back, to where the form's `back` leads, unless it returns another place below the visit's base, or the page
   * that shows the result.
   */
  submit(
    visit: Kind['visit'],
    submitted: Submitted<Subject>,
  ): Promise<string | Exclude<PageResult, { redirect: string }> | void>;
}

/**
 * The two routes of a form. Errors land beside their fields, and all that was typed comes back, except secrets. When the effect
 * has changed since the form was drawn, nothing is done and the new effect is shown.
 */
export function formRoutes<Subject, Kind extends PortalKind>(page: FormPage<Subject, Kind>): PageRoute<Kind>[] {
  const { path, action, confirm, uploadBytesMax } = page;
  return [
    { path, action, handle: (...at) => draw(page, at) },
    {
      method: 'POST',
      path,
      action,
      ...(uploadBytesMax !== undefined && { uploadBytesMax }),
      ...(confirm && {
        async actionOf(visit: Kind['visit'], sent: PageInput) {
          const input = withFilledRows(page, sent);
          if (!isConfirmed(input) || (await hasActed(page, [visit, input]))) return action;
          const { subject, view } = await read(page, [visit, input]);
          const body = bodyOfForm(view.fields ?? [], input.form);
          return (await confirm(visit, { subject, input, body })).action ?? action;
        },
      }),
      async handle(visit, sent) {
        const input = withFilledRows(page, sent);
        const acted = await hasActed(page, [visit, input]);
        if (acted && page.gone !== undefined) return { redirect: page.gone };
        const { subject, view } = await read(page, [visit, input]);
        const result = page.resultOf?.(subject, visit, input);
        if (result !== undefined) return { redirect: result };
        if (input.form['change'] === 'true' || input.form['more'] !== undefined) {
          const values = withTickedOptions(view.fields ?? [], input.form);
          return draw(page, [visit, input], { status: 200, form: { values, errors: [] } });
        }
        const body = bodyOfForm(view.fields ?? [], input.form);
        if (confirm && !isConfirmed(input)) return drawConfirmed(page, [visit, input]);
        if (!acted) {
          const effect = confirm ? await confirm(visit, { subject, input, body }) : view;
          // The other of two taps may have acted since it was looked up.
          if (isChanged(view, effect, input) && !(await hasActed(page, [visit, input]))) {
            if (isDone(view, input.form)) return { redirect: view.back.href };
            throw changedMeanwhile;
          }
        }
        const formId = formIdOf(input.form) ?? visit.accounts.newId();
        const shown = (await page.submit(visit, { subject, input, body, formId })) ?? view.back.href;
        return typeof shown === 'string' ? { redirect: shown } : shown;
      },
      async refuse(visit, sent, thrown) {
        const error = isOtherContent(thrown) ? otherContent : thrown;
        if (error === changedMeanwhile && !confirm) return drawChanged(page, [visit, sent]);
        const input = withFilledRows(page, error === otherContent ? withoutHeld(sent) : sent);
        const { view } = await read(page, [visit, input]);
        const fields = view.fields ?? [];
        const refused = inWordsOf(fields, refusedForm(withTickedOptions(fields, input.form), error));
        const isAboutField = refused.form.errors.some((each) => fields.some(({ name }) => name === each.field));
        if (!isConfirmed(input) || isAboutField) return draw(page, [visit, input], refused);
        return drawConfirmed(page, [visit, input], refused).catch((changed: unknown) => {
          if (!(changed instanceof PublicError)) throw changed;
          return draw(page, [visit, input], refusedForm(withTickedOptions(fields, input.form), changed));
        });
      },
    },
  ];
}

type At<Kind extends PortalKind> = readonly [visit: Kind['visit'], input: PageInput];
type Refused = { form: FormState; status: number };

/** The API's errors begin with the name of its field; people know the field by its label. */
function inWordsOf(fields: readonly Field[], { status, form }: Refused): Refused {
  const labels = fieldLabels(fields);
  const errors = form.errors.map(({ field, message }) => {
    const label = labels.get(field ?? '');
    const isNamed = label !== undefined && message.startsWith(`${field} `);
    return { field, message: isNamed ? `“${label}”${message.slice(field?.length)}` : message };
  });
  return { status, form: { ...form, errors } };
}

async function read<Subject, Kind extends PortalKind>(
  page: FormPage<Subject, Kind>,
  at: At<Kind>,
): Promise<{ subject: Subject; view: FormView }> {
  const [visit, input] = at;
  const subject = await page.load(...at);
  return { subject, view: page.view(subject, visit, input) };
}

async function draw<Subject, Kind extends PortalKind>(
  page: FormPage<Subject, Kind>,
  at: At<Kind>,
  refused?: Refused,
): Promise<PageResult> {
  const [visit] = at;
  const { view } = await read(page, at);
  const form = refused?.form ?? { values: view.values ?? {}, errors: [] };
  const { action, frame } = page;
  const drawn = view.refusal ? drawRefusal(visit, view, form) : await drawForm(visit, { view, form, action });
  const body = html`<div class="narrow-form">${drawn}${view.below}</div>`;
  return { status: refused?.status ?? 200, title: view.heading, body, ...(frame && { frame }) };
}

function withFilledRows<Subject, Kind extends PortalKind>(
  { rows = [] }: FormPage<Subject, Kind>,
  input: PageInput,
): PageInput {
  let { form } = input;
  for (const name of rows) form = withoutEmptyRows(name, form);
  return { ...input, form };
}

async function drawConfirmed<Subject, Kind extends PortalKind>(
  page: FormPage<Subject, Kind>,
  at: At<Kind>,
  refused?: Refused,
): Promise<PageResult> {
  const [visit, input] = at;
  const { subject, view } = await read(page, at);
  const typed = { subject, input, body: bodyOfForm(view.fields ?? [], input.form) };
  const confirmation = await page.confirm?.(visit, typed);
  if (!confirmation) return draw(page, at, refused);
  const form = refused?.form ?? { values: input.form, errors: [] };
  const body = await drawConfirmation(visit, { view, confirmation, form, action: page.action });
  return { status: refused?.status ?? 200, title: confirmation.heading, body };
}

function formIdOf(sent: Readonly<Record<string, string>>): string | null {
  const sentId = sent['form_id'] ?? '';
  return isUuid(sentId) ? sentId : null;
}

async function hasActed<Subject, Kind extends PortalKind>(
  page: FormPage<Subject, Kind>,
  [visit, input]: At<Kind>,
): Promise<boolean> {
  const formId = formIdOf(input.form);
  if (!page.hasActed || formId === null) return false;
  return page.hasActed(visit, { params: input.params, formId });
}

/** A form that acted, was shown again by the browser's Back, and then sent with something else in it. */
function isOtherContent(error: unknown): boolean {
  return error instanceof AppError && error.code === 'idempotency_key_reused';
}

const otherContent = new AppError(
  'state_conflict',
  'This form was sent before, with other content, and that was done. What it says now was not done. Press the button again if you want it too.',
);

/** What a form is refused with that was drawn of something else; it is shown again as that is now. */
export const changedMeanwhile = new AppError(
  'state_conflict',
  'This has changed meanwhile, by somebody else or by an earlier press of yours. This press did nothing. Look at it again.',
);

/** Whether it cannot be done any more, has another effect than the person saw, or would overwrite what they have not seen. */
function isChanged(view: FormView, effect: Pick<FormView, 'effect' | 'button'>, { form }: PageInput): boolean {
  if (view.refusal !== undefined || form['seen'] !== digestOf(effect)) return true;
  return effect === view && isHeldChanged(view, form);
}

function isHeldChanged(view: FormView, { held }: PageInput['form']): boolean {
  return view.values !== undefined && held !== digestOfValues(view);
}

/** Whether the record has come to hold what was typed: by an earlier press whose response was lost, or by somebody else. */
function isDone(view: FormView, form: PageInput['form']): boolean {
  const { fields = [], values, refusal } = view;
  if (values === undefined || refusal !== undefined || form['held'] === undefined) return false;
  return isHeldChanged(view, form) && hasValues(fields, form, values);
}

/** What stands there now, in place of all that was typed over it: typed again it says what the person wants of that. */
async function drawChanged<Subject, Kind extends PortalKind>(
  page: FormPage<Subject, Kind>,
  [visit, sent]: At<Kind>,
): Promise<PageResult> {
  const input = { ...sent, form: {} };
  const { view } = await read(page, [visit, input]);
  const values = view.values ?? withTickedOptions(view.fields ?? [], withoutHeld(sent).form);
  return draw(page, [visit, input], refusedForm(values, changedMeanwhile));
}

function withoutHeld(input: PageInput): PageInput {
  const { held: _held, ...form } = input.form;
  return { ...input, form };
}

function isConfirmed({ form }: PageInput): boolean {
  return form['confirmed'] === 'true' && form['change'] !== 'true';
}

function drawRefusal({ base }: { base: string }, { heading, back, refusal }: FormView, form: FormState): Html {
  return html`<h1>${heading}</h1><section class="panel">${formSummary(form, [])}${refusal}
<p class="actions"><a class="button plain" href="${base}${back.href}">${back.text}</a></p></section>`;
}

async function drawForm<Kind extends PortalKind>(
  visit: Kind['visit'],
  { view, form, action }: { view: FormView; form: FormState; action: Kind['action'] },
): Promise<Html> {
  const { heading, effect, fields = [], button, isDanger = false, back } = view;
  const shown = [...fieldNames(fields), 'second_factor'];
  const more = fields.filter(({ isMore }) => isMore === true);
  const isOpen = more.some(({ name }) => isUsed(form, name));
  // Enter presses a form's first button, which must not be the one that adds a row.
  const isLong = fields.some(({ kind }) => kind === 'rows');
  return html`<h1>${heading}</h1>
<form method="post" class="stack panel" ${fields.some(({ kind }) => kind === 'file') && html`enctype="multipart/form-data"`}>
${hiddenFields(visit, view, form)}<input type="hidden" name="held" value="${form.values['held'] ?? digestOfValues(view)}">
${isLong && html`<button class="unseen" tabindex="-1" aria-hidden="true">${button}</button>`}
${formSummary(form, shown)}
${effect}
${fields.filter(({ isMore }) => isMore !== true).map((field) => drawField(form, field))}
${
  more.length > 0 &&
  html`<details ${isOpen && 'open'}><summary>More</summary>
<div class="stack">${more.map((field) => drawField(form, field))}</div></details>`
}
${await factorField(visit, { action, form })}
<div class="actions"><button class="button ${isDanger ? 'danger' : ''}">${button}</button>
<a class="button plain" href="${visit.base}${back.href}">${back.text}</a></div>
</form>`;
}

/** True for a field with a value or an error, and for a list that a row was just added to. */
function isUsed({ values, errors }: FormState, name: string): boolean {
  const isOf = (key: string): boolean => key === name || key.startsWith(`${name}.`);
  return (
    values['more'] === name ||
    Object.entries(values).some(([key, value]) => isOf(key) && value !== '') ||
    errors.some(({ field }) => field !== null && isOf(field))
  );
}

/** Everything typed travels along hidden, so that “Change it” loses nothing. */
async function drawConfirmation<Kind extends PortalKind>(
  visit: Kind['visit'],
  drawn: { view: FormView; confirmation: Confirmation<Kind['action']>; form: FormState; action: Kind['action'] },
): Promise<Html> {
  const { view, confirmation, form } = drawn;
  const { heading, effect, button, isDanger = false, action = drawn.action } = confirmation;
  return html`<div class="narrow-form"><h1>${heading}</h1>
<form method="post" class="stack panel">
${hiddenFields(visit, confirmation, form)}<input type="hidden" name="confirmed" value="true">
${typedValues(view.fields ?? [], form.values).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${formSummary(form, ['second_factor'])}
${effect}
${await factorField(visit, { action, form })}
<div class="actions"><button class="button ${isDanger ? 'danger' : ''}">${button}</button>
<button class="button plain" name="change" value="true" formnovalidate>Change it</button>
<a class="button plain" href="${visit.base}${view.back.href}">${view.back.text}</a></div>
</form></div>`;
}

function hiddenFields<Kind extends PortalKind>(
  visit: Kind['visit'],
  seen: Pick<FormView, 'effect' | 'button'>,
  { values, errors }: FormState,
): Html {
  // A press that was refused for its code alone has done nothing, but one before it may have: its response was lost.
  const isCodeRefused = errors.length > 0 && errors.every(({ field }) => field === 'second_factor');
  const formId = (isCodeRefused && formIdOf(values)) || visit.accounts.newId();
  return html`${visit.guardField}<input type="hidden" name="form_id" value="${formId}">
<input type="hidden" name="seen" value="${digestOf(seen)}">`;
}

const digestLength = 16;

/** Recognizes that the effect is still what the person saw. */
function digestOf({ effect, button }: Pick<FormView, 'effect' | 'button'>): string {
  return hash('sha256', `${button}\n${effect ? renderHtml(effect) : ''}`).slice(0, digestLength);
}

/** Recognizes that the record still holds what the fields held when the form was first shown. */
function digestOfValues({ values = {} }: FormView): string {
  return hash('sha256', JSON.stringify(values)).slice(0, digestLength);
}
