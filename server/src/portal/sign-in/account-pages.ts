import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Account } from '../../accounts/account.ts';
import { addPasskey, passkeyCreation, removePasskey } from '../../accounts/passkeys.ts';
import {
  countRecoveryCodes,
  createRecoveryCodes,
  disableTotp,
  enableTotp,
  listPasskeys,
  prepareTotp,
  preparedTotp,
} from '../../accounts/second-factor.ts';
import { deleteSession, deleteSessions, listOwnSessions, type SignedIn } from '../../accounts/sessions.ts';
import { listMemberships, type OwnMembership } from '../../accounts/team.ts';
import { html } from '../../kit/html.ts';
import { isUuid } from '../../kit/ids.ts';
import { seeOther } from '../../pages/page-scope.ts';
import { cleanText, foreignText, formatTime } from '../../pages/page-text.ts';
import { qrCode } from '../../pages/qr-code.ts';
import { emptyForm, formSummary, submitForm, textField, type FormState } from '../forms.ts';
import { narrowPage, passkeyForm } from '../narrow-page.ts';
import { roleName } from '../patterns/texts.ts';
import type { Environment } from '../environment.ts';
import type { PortalParts } from '../portal-scope.ts';
import { deviceName } from '../visitor.ts';
import { reportFactor } from './member-audit.ts';
import { requireFactor, requireSignedIn, type PortalRequest } from './signed-in-only.ts';

/** What a signed-in person manages for themselves: businesses, second factors, passkeys, recovery codes and sessions. */
export function registerAccountPages(scope: FastifyInstance, parts: PortalParts): void {
  if (parts.realm === 'merchant') {
    scope.get(
      '/',
      requireSignedIn(parts, async (_request, reply, { account }) => {
        const [only, ...others] = await listMemberships(parts.context.db, account.id);
        return seeOther(reply, only && others.length === 0 ? homeOf(only) : `${parts.home}/businesses`);
      }),
    );
    scope.get(
      '/businesses',
      requireSignedIn(parts, async (request, reply, signedIn) => showBusinesses(parts, request, reply, signedIn)),
    );
  }
  scope.get(
    '/account',
    requireSignedIn(parts, async (request, reply, signedIn) => showAccount(parts, request, reply, signedIn)),
  );
  registerApp(scope, parts);
  registerRecoveryCodes(scope, parts);
  registerPasskeys(scope, parts);
  registerSessions(scope, parts);
}

async function showBusinesses(
  { context, home, send, guardField }: PortalParts,
  request: PortalRequest,
  reply: FastifyReply,
  { account }: SignedIn,
): Promise<FastifyReply> {
  const memberships = await listMemberships(context.db, account.id);
  const page = narrowPage(
    'Your businesses',
    html`${
      memberships.length === 0
        ? html`<p>You are in no team. Ask the owner of a business to invite ${account.email}.</p>`
        : html`<ul class="things">${memberships.map(
            (each) => html`<li><span><strong>${foreignText(each.businessName)}</strong>
<span class="hint">${roleName(each.role)}</span></span>
<span class="actions">${environmentsOf(each).map(
              (environment) =>
                html`<a class="button plain" href="${homeOf(each, environment)}"
aria-label="${cleanText(each.businessName)}, ${environment}">${environment === 'test' ? 'Test' : 'Live'}</a>`,
            )}</span></li>`,
          )}</ul>`
    }
<p><a href="${home}/account">Your login</a></p>
<form method="post" action="${home}/sign-out">${guardField(request)}<button class="button plain">Sign out</button></form>`,
  );
  return send(request, reply, { status: 200, ...page });
}

/** Live, once it is open, comes first: there the money is. */
function environmentsOf({ isLiveOpen }: OwnMembership): Environment[] {
  return isLiveOpen ? ['live', 'test'] : ['test'];
}

/** The first page of a business's dashboard; cashiers begin with the payments of their counters. */
function homeOf(membership: OwnMembership, environment = environmentsOf(membership)[0]): string {
  const { testShortId, liveShortId } = membership;
  return `/dashboard/${environment === 'live' ? `live/${liveShortId}` : `test/${testShortId}`}`;
}

async function showAccount(
  parts: PortalParts,
  request: PortalRequest,
  reply: FastifyReply,
  { account, session }: SignedIn,
): Promise<FastifyReply> {
  const { context, guardField, home, realm, send } = parts;
  const passkeys = await listPasskeys(context.db, account.id);
  const codesLeft = await countRecoveryCodes(context.db, account.id);
  const sessions = await listOwnSessions(context, account.id);
  const hidden = guardField(request);
  const page = narrowPage(
    'Your login',
    html`<p>${account.name}, ${account.email}</p>
<p><a href="${home}/forgotten">Choose a new password</a></p>
${
  realm === 'operator' &&
  account.totpConfirmedAt === null &&
  passkeys.length === 0 &&
  html`<p class="notice wait">Operators need a second factor: set one up to go on.</p>`
}
<h2>Second factor</h2>
${
  account.totpConfirmedAt === null
    ? html`<p>With a second factor a stolen password opens nothing.</p>
<form method="post" action="${home}/account/app">${hidden}<button class="button">Set up an authenticator app</button></form>`
    : html`<p>Authenticator app: set up ${formatTime(account.totpConfirmedAt)}.</p>
<form method="post" action="${home}/account/app/remove">${hidden}<button class="button danger">Remove the app</button></form>`
}
${
  (account.totpConfirmedAt !== null || passkeys.length > 0) &&
  html`<p>${codesLeft === 0 ? 'You have no recovery codes for the day that you lose your phone.' : `${codesLeft} recovery codes are left.`}</p>
<form method="post" action="${home}/account/recovery-codes">${hidden}<button class="button plain">New recovery codes</button></form>`
}
<h2>Passkeys</h2>
<ul class="things">${passkeys.map(
      ({ id, name, createdAt, lastUsedAt }) => html`<li><span><strong>${name}</strong>
<span class="hint">Added ${formatTime(createdAt)}${lastUsedAt && html`, used ${formatTime(lastUsedAt)}`}</span></span>
<form method="post" action="${home}/account/passkeys/${id}/remove">${hidden}<button class="button danger">Remove</button></form></li>`,
    )}</ul>
<p><a class="button plain" href="${home}/account/passkeys/new">Add a passkey</a></p>
<h2>Signed in</h2>
<ul class="things">${sessions.map(
      (each) => html`<li><span><strong>${deviceName(each.device)}</strong>${each.id === session.id && ' (this browser)'}
<span class="hint">${each.address}, since ${formatTime(each.createdAt)}, last seen ${formatTime(each.lastSeenAt)}</span></span>
${
  each.id !== session.id &&
  html`<form method="post" action="${home}/account/sessions/${each.id}/end">${hidden}<button class="button plain">Sign out</button></form>`
}</li>`,
    )}</ul>
${
  sessions.length > 1 &&
  html`<form method="post" action="${home}/account/sessions/end">${hidden}<button class="button plain">Sign out everywhere else</button></form>`
}
<p><a href="${home}/businesses">${realm === 'merchant' ? 'Your businesses' : 'To the console'}</a></p>
<form method="post" action="${home}/sign-out">${hidden}<button class="button plain">Sign out</button></form>`,
  );
  return send(request, reply, { status: 200, ...page });
}

function registerApp(scope: FastifyInstance, parts: PortalParts): void {
  const { context, home } = parts;
  scope.post(
    '/account/app',
    requireFactor(parts, async (_request, reply, { account }) => {
      await context.db.withTransaction((tx) => prepareTotp(tx, context, account));
      return seeOther(reply, `${home}/account/app`);
    }),
  );
  scope.get(
    '/account/app',
    requireFactor(parts, async (request, reply, { account }) => showApp(parts, request, reply, account)),
  );
  scope.post(
    '/account/app/confirm',
    requireFactor(parts, async (request, reply, { account }) => {
      const refuse = (form: FormState, status: number) => showApp(parts, request, reply, account, { form, status });
      return submitForm(request, refuse, async ({ code = '' }) => {
        const codes = await context.db.withTransaction(async (tx) => {
          await enableTotp(tx, context, { account, code });
          await reportFactor(tx, context, request, { account, factor: 'authenticator app', isAdded: true });
          return createRecoveryCodes(tx, context, account.id);
        });
        return showRecoveryCodes(parts, request, reply, codes);
      });
    }),
  );
  scope.post(
    '/account/app/remove',
    requireFactor(parts, async (request, reply, { account, session }) => {
      await context.db.withTransaction(async (tx) => {
        if (!(await disableTotp(tx, account))) return;
        await reportFactor(tx, context, request, { account, factor: 'authenticator app', isAdded: false });
        tx.send(deleteSessions(account.id, session.id));
      });
      return seeOther(reply, `${home}/account`);
    }),
  );
}

async function showApp(
  { context, guardField, home, send }: PortalParts,
  request: PortalRequest,
  reply: FastifyReply,
  account: Account,
  { form = emptyForm, status = 200 }: { form?: FormState; status?: number } = {},
): Promise<FastifyReply> {
  const setup = preparedTotp(context, account);
  if (!setup) return seeOther(reply, `${home}/account`);
  const page = narrowPage(
    'Set up an authenticator app',
    html`<p>Scan this with an authenticator app on your phone, or type the key into it.</p>
<div class="qr">${qrCode(setup.url, 'The key as a QR code')}</div>
<p class="secret">${setup.text}</p>
<form method="post" action="${home}/account/app/confirm" class="stack">
${guardField(request)}${formSummary(form, ['code'])}
${textField(form, {
  ...{ name: 'code', label: 'Code', autocomplete: 'one-time-code', inputmode: 'numeric' },
  hint: 'The six digits that the app shows now.',
})}
<button class="button">Confirm</button>
</form>
<p><a href="${home}/account">Keep it as it is</a></p>`,
  );
  return send(request, reply, { status, ...page });
}

function registerRecoveryCodes(scope: FastifyInstance, parts: PortalParts): void {
  const { context } = parts;
  scope.post(
    '/account/recovery-codes',
    requireFactor(parts, async (request, reply, { account }) => {
      const codes = await context.db.withTransaction(async (tx) => {
        await reportFactor(tx, context, request, { account, factor: 'set of recovery codes', isAdded: true });
        return createRecoveryCodes(tx, context, account.id);
      });
      return showRecoveryCodes(parts, request, reply, codes);
    }),
  );
}

/** On the response of the form alone: nobody can read them again, not even their owner. */
function showRecoveryCodes(
  { home, send }: PortalParts,
  request: PortalRequest,
  reply: FastifyReply,
  codes: readonly string[],
): Promise<FastifyReply> {
  const page = narrowPage(
    'Your recovery codes',
    html`<p>Each of them replaces the code of your app once, for the day that you lose your phone. They are shown now and never
again: print them, or write them down.</p>
<ul class="codes">${codes.map((code) => html`<li>${code}</li>`)}</ul>
<p><a class="button" href="${home}/account">I have kept them</a></p>`,
  );
  return send(request, reply, { status: 200, ...page });
}

function registerPasskeys(scope: FastifyInstance, parts: PortalParts): void {
  const { context, guardField, home, send } = parts;
  const show = async (request: PortalRequest, reply: FastifyReply, account: Account, form: FormState, status = 200) => {
    const question = await passkeyCreation(context, account);
    const fields = html`${formSummary(form, ['name'])}${textField(form, {
      ...{ name: 'name', label: 'Name', autocomplete: 'off', hint: 'So that you know it again, such as “my phone”.' },
    })}`;
    const hidden = guardField(request);
    const action = `${home}/account/passkeys`;
    const page = narrowPage(
      'Add a passkey',
      html`<p>A passkey signs you in with your finger, face or PIN. It replaces password and code.</p>
${passkeyForm({ action, kind: 'create', question, hidden, button: 'Add the passkey', fields })}
<noscript><p>Passkeys need scripts, which your browser has switched off.</p></noscript>
<p><a href="${home}/account">Back</a></p>`,
    );
    return send(request, reply, { status, ...page });
  };
  scope.get(
    '/account/passkeys/new',
    requireFactor(parts, async (request, reply, { account }) => show(request, reply, account, emptyForm)),
  );
  scope.post(
    '/account/passkeys',
    requireFactor(parts, async (request, reply, { account }) => {
      const refuse = (form: FormState, status: number) => show(request, reply, account, form, status);
      return submitForm(request, refuse, async ({ name = '', passkey: response = '' }) => {
        await context.db.withTransaction(async (tx) => {
          await addPasskey(tx, context, { account, name, response });
          await reportFactor(tx, context, request, { account, factor: 'passkey', isAdded: true });
        });
        return seeOther(reply, `${home}/account`);
      });
    }),
  );
  scope.post(
    '/account/passkeys/:id/remove',
    requireFactor(parts, async (request, reply, { account, session }) => {
      const { id = '' } = request.params;
      if (!isUuid(id)) return seeOther(reply, `${home}/account`);
      await context.db.withTransaction(async (tx) => {
        if (!(await removePasskey(tx, { accountId: account.id, id, sessionId: session.id }))) return;
        await reportFactor(tx, context, request, { account, factor: 'passkey', isAdded: false });
      });
      return seeOther(reply, `${home}/account`);
    }),
  );
}

function registerSessions(scope: FastifyInstance, parts: PortalParts): void {
  const { context, home } = parts;
  scope.post(
    '/account/sessions/:id/end',
    requireSignedIn(parts, async (request, reply, { account }) => {
      const { id = '' } = request.params;
      if (isUuid(id)) await deleteSession(context.db, account.id, id);
      return seeOther(reply, `${home}/account`);
    }),
  );
  scope.post(
    '/account/sessions/end',
    requireSignedIn(parts, async (_request, reply, { account, session }) => {
      await context.db.run(deleteSessions(account.id, session.id));
      return seeOther(reply, `${home}/account`);
    }),
  );
}
