import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { needsFactorEachTime } from '../../accounts/permissions.ts';
import { checkSecondFactor, hasSecondFactor } from '../../accounts/second-factor.ts';
import { hasRecentFactor } from '../../accounts/sessions.ts';
import { AppError, fieldError } from '../../api/app-error.ts';
import { html } from '../../kit/html.ts';
import { PublicError } from '../../kit/public-error.ts';
import { readForm } from '../forms.ts';
import type { AnyAction, Download, Page, PageInput, PageResult, PageRoute, PortalKind } from './page-route.ts';

/** What a request's page was asked with. */
export function inputOf(request: FastifyRequest): PageInput {
  const query = Object.entries(request.query as Record<string, string | string[]>);
  return {
    params: request.params as Record<string, string>,
    query: Object.fromEntries(
      query.map(([name, value]) => [name, String(Array.isArray(value) ? value.at(-1) : value)]),
    ),
    form: request.method === 'POST' ? readForm(request) : {},
    files: {},
  };
}

/** A route's result for whoever may: role and second factor are checked first. `refused` is the page for whoever may not. */
export async function runPage<Kind extends PortalKind>(
  services: Kind['services'],
  route: PageRoute<Kind>,
  { visit, input, refused }: { visit: Kind['visit']; input: PageInput; refused: () => Page },
): Promise<PageResult | Kind['more']> {
  if (!visit.may(route.action).isAllowed) return refused();
  try {
    const action = route.actionOf ? await route.actionOf(services, visit, input) : route.action;
    const permission = visit.may(action);
    if (!permission.isAllowed) return refused();
    if (route.method === 'POST' && permission.needsSecondFactor) await requireFactor(services, action, visit, input);
    return await route.handle(services, visit, input);
  } catch (error) {
    if (!(error instanceof PublicError) || error.statusCode >= 500) throw error;
    return route.refuse ? route.refuse(services, visit, input, error) : problemPage(error);
  }
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

/** Throws AppError that names `second_factor`, or `state_conflict` for a person without one. */
async function requireFactor(
  { accounts }: PortalKind['services'],
  action: AnyAction,
  { account, session, now }: PortalKind['visit'],
  { form }: PageInput,
): Promise<void> {
  if (!needsFactorEachTime(action) && hasRecentFactor(session, now)) return;
  if (!(await hasSecondFactor(accounts.db, account))) {
    const message = 'Set up an authenticator app first (Your login): this needs its code. Nothing was done.';
    throw new AppError('state_conflict', message);
  }
  const { second_factor: code = '', passkey = '' } = form;
  if (code === '' && passkey === '') {
    throw fieldError('invalid_request', 'second_factor', 'Type the code that your authenticator app shows now.');
  }
  await checkSecondFactor(accounts, account, { code, passkey });
}

export function sendDownload(reply: FastifyReply, download: Download): FastifyReply {
  const { name, contentType, bytes, isInline = false } = download;
  const disposition = `${isInline ? 'inline' : 'attachment'}; filename="${name}"`;
  reply.type(contentType).header('content-disposition', disposition).header('cache-control', 'no-store');
  return reply.send(bytes instanceof Uint8Array ? Buffer.from(bytes) : Readable.from(bytes));
}
