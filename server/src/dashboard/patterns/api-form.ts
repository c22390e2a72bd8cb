import type { TSchema } from 'typebox';
import { deletedSchema } from '../../api/wire-types.ts';
import type { Transaction } from '../../kit/db.ts';
import type { FormView, Submitted } from '../../portal/patterns/form-page.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import type { Visit } from '../visit.ts';
import { act } from './act.ts';
import { formRoutes, type DashboardForm } from './form-page.ts';

type Body = Record<string, unknown>;

/** A form that calls one operation of the API and leads to the record's page. */
interface ApiForm<Subject> extends Omit<DashboardForm<Subject>, 'submit' | 'operation' | 'gone'> {
  operation: string;
  /** Of the response. */
  schema: TSchema;
  /** The kind of the record, as the audit log has it. */
  object: string;
  /** The list; its records' pages are below it. */
  list: string;
  /** The record's id; left out by a form that creates one. */
  id?(subject: Subject): string;
  /** The record as it was, for what the audit log shows of a change. */
  before?(subject: Subject): unknown;
  /** What is sent; all that was typed, by default. */
  body?(typed: Body, subject: Subject): Body;
  /** What else belongs to it, such as a mail. */
  alsoWrite?(visit: Visit, sent: { subject: Subject; body: Body }): Promise<(tx: Transaction) => void>;
}

export function apiForm<Subject>(form: ApiForm<Subject>): DashboardRoute[] {
  const { schema: _schema, object: _object, list, id, before: _before, body: _body, alsoWrite: _also, ...page } = form;
  return formRoutes<Subject>({
    ...page,
    async submit(visit, submitted) {
      const response = await call(form, visit, submitted);
      return `${list}/${id?.(submitted.subject) ?? (response as { id: string }).id}`;
    },
  });
}

interface DeletionForm<Subject> extends Pick<
  ApiForm<Subject>,
  'path' | 'action' | 'load' | 'operation' | 'object' | 'list' | 'before'
> {
  id(subject: Subject): string;
  view(subject: Subject): Required<Pick<FormView, 'heading' | 'effect' | 'button'>>;
}

/** A page that asks before a record is deleted; it leads to the list, also once the record is gone. */
export function deletionForm<Subject>({ view, ...form }: DeletionForm<Subject>): DashboardRoute[] {
  const { object: _object, list, id, before: _before, ...page } = form;
  return formRoutes<Subject>({
    ...page,
    gone: list,
    view: (subject) => ({
      ...{ ...view(subject), isDanger: true },
      back: { href: `${list}/${id(subject)}`, text: 'Keep it' },
    }),
    async submit(visit, submitted) {
      await call({ ...form, schema: deletedSchema }, visit, submitted);
      return list;
    },
  });
}

type Call<Subject> = Pick<ApiForm<Subject>, 'operation' | 'schema' | 'object' | 'id' | 'before' | 'body' | 'alsoWrite'>;

async function call<Subject>(
  { operation, schema, object, id, before, body: bodyOf, alsoWrite }: Call<Subject>,
  visit: Visit,
  { subject, body: typed, formId }: Submitted<Subject>,
): Promise<unknown> {
  const ofRecord = id && { id: id(subject) };
  const body = bodyOf ? bodyOf(typed, subject) : typed;
  return act(visit, {
    ...{ operationId: operation, schema, formId, object: { type: object, ...ofRecord } },
    ...(ofRecord && { params: ofRecord }),
    ...(Object.keys(body).length > 0 && { body }),
    ...(before && { before: before(subject) }),
    ...(alsoWrite && { alsoWrite: await alsoWrite(visit, { subject, body }) }),
  });
}
