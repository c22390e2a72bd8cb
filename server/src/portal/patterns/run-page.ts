import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { needsFactorEachTime } from '../../accounts/permissions.ts';
import { hasSecondFactor } from '../../accounts/second-factor.ts';
import { hasRecentFactor } from '../../accounts/sessions.ts';
import { giveSecondFactor } from '../../accounts/sign-in.ts';
import { AppError, fieldError } from '../../api/app-error.ts';
import { assert } from '../../kit/assert.ts';
import { methodOf } from '../../kit/head-requests.ts';
import { html } from '../../kit/html.ts';
import { PublicError } from '../../kit/public-error.ts';
import { readForm } from '../forms.ts';
import type { AnyAction, Download, Page, PageInput, PageResult, PageRoute, PortalKind } from './page-route.ts';

/** What a request's page was asked with. */
export function inputOf(request: FastifyRequest): PageInput {
  const query = Object.entries(request.query as Record<string, string | string[]>);
  // The visit has it.
  const { environment: _environment, ...params } = request.params as Record<string, string>;
  return {
    params,
    query: Object.fromEntries(
      query.map(([name, value]) => [name, String(Array.isArray(value) ? value.at(-1) : value)]),
    ),
    form: request.method === 'POST' ? readForm(request) : {},
    files: {},
  };
}

interface PageRequest<Kind extends PortalKind> {
  visit: Kind['visit'];
  input: PageInput;
  /** The page for whoever may not. */
  refused: () => Page;
  /** Takes the session's new token: a second factor that came with the form has ended the one before. */
  setToken: (token: string) => void;
}

/** A route's result for whoever may: role and second factor are checked first. */
export async function runPage<Kind extends PortalKind>(
  route: PageRoute<Kind>,
  { visit: requested, input, refused, setToken }: PageRequest<Kind>,
): Promise<PageResult | Kind['more']> {
  let visit = requested;
  if (!visit.may(route.action).isAllowed) return refused();
  try {
    const action = route.actionOf ? await route.actionOf(visit, input) : route.action;
    const permission = visit.may(action);
    if (!permission.isAllowed) return refused();
    if (route.method === 'POST' && permission.needsSecondFactor && needsFactorNow(action, visit)) {
      setToken(await takeFactor(visit, input));
      // A form that comes back after this does not ask for it again.
      visit = { ...visit, session: { ...visit.session, secondFactorAt: visit.now } };
    }
    return await route.handle(visit, input);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    if (!route.refuse) return problemPage(error);
    try {
      return await route.refuse(visit, input, error);
    } catch (again) {
      // What the form shows cannot be read either: too many searches run, or the record is gone.
      if (!isRefusal(again)) throw again;
      return problemPage(error);
    }
  }
}

function isRefusal(error: unknown): error is PublicError {
  return error instanceof PublicError && error.statusCode < 500;
}

/** A refusal of a page that has no words of its own for it, inside the navigation: a record that there is not, an old link. */
function problemPage({ statusCode, message }: PublicError): Page {
  const title = statusCode === 404 ? 'Not found' : 'Not possible';
  return {
    status: statusCode,
    title,
    body: html`<section class="empty"><h1>${title}</h1><p>${message}</p></section>`,
  };
}

function needsFactorNow(action: AnyAction, { session, now }: PortalKind['visit']): boolean {
  return needsFactorEachTime(action) || !hasRecentFactor(session, now);
}

/**
 * Checks the factor that came with the form, which then counts for five minutes as one that was asked for on a page of its own
 * does. Returns the session's new token. Throws AppError that names `second_factor`, or `state_conflict` for a person without one.
 */
async function takeFactor(
  { accounts, account, session, address, requestId }: PortalKind['visit'],
  { form }: PageInput,
): Promise<string> {
  if (!(await hasSecondFactor(accounts.db, account))) {
    const message = 'Set up an authenticator app first (Your login): this needs its code. Nothing was done.';
    throw new AppError('state_conflict', message);
  }
  const { second_factor: code = '', passkey = '' } = form;
  if (code === '' && passkey === '') {
    throw fieldError('invalid_request', 'second_factor', 'Type the code that your authenticator app shows now.');
  }
  const client = { device: session.device, address, requestId };
  return giveSecondFactor(accounts, { account, session }, { code, passkey, client, isWithAction: true });
}

/**
 * Sends a file. That somebody takes data away is recorded first, and without that it is not sent. A HEAD takes nothing away: nothing is
 * read for it.
 */
export async function sendDownload(
  reply: FastifyReply,
  download: Download,
  recordExport: (name: string) => Promise<void>,
): Promise<FastifyReply> {
  const { name, contentType, bytes, isInline = false } = download;
  const isHead = methodOf(reply.request.raw) === 'HEAD';
  try {
    if (!isHead && /^(text\/csv|application\/json)/.test(contentType)) await recordExport(name);
  } catch (error) {
    await endReading(bytes);
    throw error;
  }
  if (isHead) await endReading(bytes);
  const disposition = `${isInline ? 'inline' : 'attachment'}; filename="${name}"`;
  reply.type(contentType).header('content-disposition', disposition).header('cache-control', 'no-store');
  const isTable = contentType.startsWith('text/csv');
  if (bytes instanceof Uint8Array) return reply.send(Buffer.concat([Buffer.from(isTable ? byteOrderMark : ''), bytes]));
  if (isHead) return reply.send(Readable.from([]));
  return reply.send(Readable.from(isTable ? marked(bytes) : bytes));
}

// Without it Excel reads a table as Windows-1252, and `Aïssatou` as `AÃ¯ssatou`.
const byteOrderMark = '\ufeff';

/** The parts of a table with the mark in front. Not a generator: one that is left before it began would not end them. */
function marked(parts: AsyncIterable<string | Uint8Array>): AsyncIterable<string | Uint8Array> {
  const iterator = parts[Symbol.asyncIterator]();
  let mark = byteOrderMark;
  const next = async (): Promise<IteratorResult<string | Uint8Array>> => {
    const part = await iterator.next();
    if (part.done || mark === '') return part;
    assert(typeof part.value === 'string', 'a table is text');
    const value = mark + part.value;
    mark = '';
    return { done: false, value };
  };
  const end = async (): Promise<IteratorResult<string | Uint8Array>> =>
    (await iterator.return?.()) ?? { done: true, value: undefined };
  return { [Symbol.asyncIterator]: () => ({ next, return: end }) };
}

/** Ends what a file would be read from. */
async function endReading(bytes: Download['bytes']): Promise<void> {
  if (!(bytes instanceof Uint8Array)) await bytes[Symbol.asyncIterator]().return?.();
}
