import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { normalizedEmail } from '../../accounts/account.ts';
import { passkeyRequest } from '../../accounts/passkeys.ts';
import {
  forgetWrongPasswords,
  giveSecondFactor,
  signIn,
  signInWithPasskey,
  type StartedSession,
  type VisitorLimit,
} from '../../accounts/sign-in.ts';
import { deleteSession } from '../../accounts/sessions.ts';
import {
  findPasswordLink,
  findVerification,
  homeOf,
  requestPasswordReset,
  resetPassword,
  signUp,
  verifyEmail,
} from '../../accounts/sign-up.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Transaction } from '../../kit/db.ts';
import { html, type Html } from '../../kit/html.ts';
import { seeOther } from '../../pages/page-scope.ts';
import { emptyForm, formSummary, submitForm, textField, type FormState } from '../forms.ts';
import type { PortalParts } from '../portal-scope.ts';
import { narrowPage, passkeyForm } from '../narrow-page.ts';
import { clientOf } from '../visitor.ts';

export interface SignInPagesOptions extends PortalParts {
  visitorLimit: VisitorLimit;
  /** Whether anybody may sign up; else the operator creates businesses and invites their owners. */
  isSignUpOpen: boolean;
}

export interface VisitorPagesOptions extends SignInPagesOptions {
  createBusiness: (tx: Transaction, business: { name: string }) => Promise<{ businessId: string }>;
}

export type VisitorRequest = FastifyRequest<{
  Params: { token?: string };
  Querystring: { next?: unknown; after?: unknown };
}>;

const base = homeOf('merchant');

/** The pages for whoever is not signed in yet: signing up and in, the second factor, links of mails. */
export function registerVisitorPages(scope: FastifyInstance, options: VisitorPagesOptions): void {
  registerSignInPages(scope, options);
  registerSignUp(scope, options);
}

/** Those of every realm: signing in and out, the second factor, a new password. */
export function registerSignInPages(scope: FastifyInstance, options: SignInPagesOptions): void {
  registerSignIn(scope, options);
  registerSecondFactor(scope, options);
  registerPasswordPages(scope, options);
}

function registerSignIn(scope: FastifyInstance, options: SignInPagesOptions): void {
  const { context, cookies, home, realm, visitorLimit, send } = options;
  const show = async (request: VisitorRequest, reply: FastifyReply, form: FormState, status = 200) => {
    const question = await passkeyRequest(context, null);
    return send(request, reply, { status, ...signInPage(options, request, { form, question }) });
  };
  const enter = async (request: VisitorRequest, reply: FastifyReply, started: StartedSession, next: string) => {
    cookies.set(request, reply, started.token);
    if (!started.session.isComplete) return seeOther(reply, withNext(`${home}/second-factor`, next));
    cookies.rememberDevice(request, reply, started.account.email);
    return seeOther(reply, next);
  };
  scope.get('/sign-in', async (request: VisitorRequest, reply) => show(request, reply, emptyForm));
  scope.post('/sign-in', async (request: VisitorRequest, reply) => {
    const refuse = (form: FormState, status: number) => show(request, reply, form, status);
    return submitForm(request, refuse, async ({ email = '', password = '', passkey = '', next }) => {
      visitorLimit.take(request.ip);
      const client = clientOf(request);
      const knownDevice = cookies.knownDevice(request, normalizedEmail(email));
      const started = await refusedInEqualTime(context.clock, () =>
        passkey === ''
          ? signIn(context, realm, { email, password, client, knownDevice })
          : signInWithPasskey(context, realm, { response: passkey, client }),
      );
      return enter(request, reply, started, ownPath(home, next));
    });
  });
  scope.post('/sign-out', async (request, reply) => {
    const { signedIn } = request;
    if (signedIn) await deleteSession(context.db, signedIn.account.id, signedIn.session.id);
    cookies.clear(request, reply);
    reply.header('clear-site-data', '"cache", "storage"');
    return seeOther(reply, `${home}/sign-in`);
  });
}

/** What somebody has done before they are led to the sign-in. */
const doneTexts: ReadonlyMap<unknown, string> = new Map([
  ['password', 'Your new password is saved. Sign in with it.'],
  ['joined', 'You have joined. Sign in with your address and password.'],
]);

function signInPage(
  { guardField, home, isSignUpOpen }: SignInPagesOptions,
  request: VisitorRequest,
  { form, question }: { form: FormState; question: object },
): { title: string; body: Html } {
  const next = ownPath(home, form.values['next'] ?? request.query.next);
  const hidden = html`${guardField(request)}<input type="hidden" name="next" value="${next}">`;
  const done = doneTexts.get(request.query.after);
  return narrowPage(
    'Sign in',
    html`<form method="post" action="${home}/sign-in" class="stack">
${hidden}${formSummary(form, ['email', 'password'])}
${form === emptyForm && done !== undefined && html`<p class="notice good" role="status">${done}</p>`}
${textField(form, { name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username', inputmode: 'email' })}
${textField(form, { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' })}
<button class="button">Sign in</button>
</form>
${passkeyForm({ action: `${home}/sign-in`, kind: 'get', question, hidden, button: 'Sign in with a passkey' })}
<p><a href="${home}/forgotten">Forgotten your password?</a></p>
${isSignUpOpen && html`<p>New here? <a href="${home}/sign-up">Sign up</a></p>`}`,
  );
}

function registerSecondFactor(
  scope: FastifyInstance,
  { context, cookies, guardField, home, send }: SignInPagesOptions,
): void {
  const show = async (request: VisitorRequest, reply: FastifyReply, form: FormState, status = 200) => {
    const { signedIn } = request;
    if (!signedIn) return seeOther(reply, `${home}/sign-in`);
    const question = await passkeyRequest(context, signedIn.account);
    const next = ownPath(home, form.values['next'] ?? request.query.next);
    const hidden = html`${guardField(request)}<input type="hidden" name="next" value="${next}">`;
    const page = narrowPage(
      'Confirm that it is you',
      html`<form method="post" action="${home}/second-factor" class="stack">
${hidden}${formSummary(form, ['second_factor'])}
${textField(form, {
  ...{ name: 'second_factor', label: 'Code', autocomplete: 'one-time-code' },
  hint: 'The six digits of your authenticator app, or one of your recovery codes.',
})}
<button class="button">Continue</button>
</form>
${passkeyForm({ action: `${home}/second-factor`, kind: 'get', question, hidden, button: 'Use a passkey' })}
<form method="post" action="${home}/sign-out">${guardField(request)}<button class="button plain">Sign out</button></form>`,
    );
    return send(request, reply, { status, ...page });
  };
  scope.get('/second-factor', async (request: VisitorRequest, reply) => show(request, reply, emptyForm));
  scope.post('/second-factor', async (request: VisitorRequest, reply) => {
    const { signedIn } = request;
    if (!signedIn) return seeOther(reply, `${home}/sign-in`);
    const refuse = (form: FormState, status: number) => show(request, reply, form, status);
    return submitForm(request, refuse, async ({ second_factor: code = '', passkey = '', next }) => {
      const token = await giveSecondFactor(context, signedIn, { code, passkey, client: clientOf(request) });
      cookies.set(request, reply, token);
      cookies.rememberDevice(request, reply, signedIn.account.email);
      return seeOther(reply, ownPath(home, next));
    });
  });
}

function registerSignUp(scope: FastifyInstance, options: VisitorPagesOptions): void {
  const { context, visitorLimit, guardField, send, isSignUpOpen, createBusiness } = options;
  const show = (request: VisitorRequest, reply: FastifyReply, form: FormState, status = 200) =>
    send(request, reply, { status, ...narrowPage('Sign up', signUpForm(form, guardField(request))) });
  scope.get('/sign-up', async (request: VisitorRequest, reply) => {
    if (!isSignUpOpen) return send(request, reply, { status: 200, ...closedSignUp });
    return show(request, reply, emptyForm);
  });
  scope.post('/sign-up', async (request: VisitorRequest, reply) => {
    if (!isSignUpOpen) return send(request, reply, { status: 403, ...closedSignUp });
    const refuse = (form: FormState, status: number) => show(request, reply, form, status);
    return submitForm(request, refuse, async (values) => {
      visitorLimit.take(request.ip);
      const { name = '', email = '', password = '', business_name: businessName = '' } = values;
      const account = { name, email, password, businessName };
      await inEqualTime(context.clock, () => signUp(context, account, createBusiness));
      return send(request, reply, { status: 200, ...mailSent(base, email) });
    });
  });
  registerVerification(scope, options);
}

/** The link of the mail asks: programs that look into mails for their readers open links, and must not confirm for them. */
function registerVerification(scope: FastifyInstance, { context, guardField, send }: VisitorPagesOptions): void {
  scope.get('/verify/:token', async (request: VisitorRequest, reply) => {
    const { token = '' } = request.params;
    const account = await findVerification(context, token);
    if (!account) return send(request, reply, { status: 404, ...endedLink(base) });
    const page = narrowPage(
      'Confirm your address',
      html`<form method="post" action="${base}/verify/${token}" class="stack">
${guardField(request)}<p>Did you sign up with ${account.email}?</p>
<button class="button">Confirm the address</button>
</form>
<p class="hint">If it was somebody else, close this page: without this step nobody gets in.</p>`,
    );
    return send(request, reply, { status: 200, ...page });
  });
  scope.post('/verify/:token', async (request: VisitorRequest, reply) => {
    const account = await verifyEmail(context, request.params.token ?? '');
    if (!account) return send(request, reply, { status: 404, ...endedLink(base) });
    const { body } = narrowPage(
      'Your address is confirmed',
      html`<p>You can sign in now.</p><p><a class="button" href="${base}/sign-in">Sign in</a></p>`,
    );
    return send(request, reply, { status: 200, title: 'Address confirmed', body });
  });
}

function signUpForm(form: FormState, guardField: Html): Html {
  return html`<form method="post" action="${base}/sign-up" class="stack">
${guardField}${formSummary(form, ['name', 'email', 'password', 'business_name'])}
${textField(form, { name: 'business_name', label: 'Name of your business', autocomplete: 'organization', hint: 'Payers see it.' })}
${textField(form, { name: 'name', label: 'Your name', autocomplete: 'name' })}
${textField(form, { name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username', inputmode: 'email' })}
${textField(form, {
  ...{ name: 'password', label: 'Password', type: 'password', autocomplete: 'new-password' },
  hint: 'At least 10 characters. A few unrelated words are easy to remember and hard to guess.',
})}
<button class="button">Sign up</button>
</form>
<p>Have a login already? <a href="${base}/sign-in">Sign in</a></p>`;
}

const closedSignUp = {
  ...narrowPage(
    'Ask for an invitation',
    html`<p>On this service the operator creates businesses and invites their owners. Ask whoever runs it.</p>
<p><a class="button" href="${base}/sign-in">Sign in</a></p>`,
  ),
  title: 'Sign up',
};

/** Of a link that was used, or is too old. */
export const endedLink = (home: string) =>
  narrowPage(
    'This link has ended',
    html`<p>It was used already, or it is too old. Sign in, or ask for a new link.</p>
<p><a class="button" href="${home}/sign-in">Sign in</a></p>
<p><a href="${home}/forgotten">Choose a new password</a></p>`,
  );

/** The same whether or not the address has a login. */
function mailSent(home: string, email: string): { title: string; body: Html } {
  return narrowPage(
    'Look into your mail',
    html`<p>We have sent a link to ${email}. Open it to go on.</p>
<p class="hint">Nothing there after five minutes? Look under spam, and check the address.</p>
<p><a href="${home}/sign-in">Back to sign in</a></p>`,
  );
}

function registerPasswordPages(scope: FastifyInstance, options: SignInPagesOptions): void {
  const { context, cookies, home, realm, visitorLimit, guardField, send } = options;
  const showForgotten = (request: VisitorRequest, reply: FastifyReply, form: FormState, status = 200) => {
    const page = narrowPage(
      'Choose a new password',
      html`<form method="post" action="${home}/forgotten" class="stack">
${guardField(request)}${formSummary(form, ['email'])}
${textField(form, { name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username', inputmode: 'email' })}
<button class="button">Send me a link</button>
</form>
<p><a href="${home}/sign-in">Back to sign in</a></p>`,
    );
    return send(request, reply, { status, ...page });
  };
  scope.get('/forgotten', async (request: VisitorRequest, reply) => showForgotten(request, reply, emptyForm));
  scope.post('/forgotten', async (request: VisitorRequest, reply) => {
    const refuse = (form: FormState, status: number) => showForgotten(request, reply, form, status);
    return submitForm(request, refuse, async ({ email = '' }) => {
      visitorLimit.take(request.ip);
      await inEqualTime(context.clock, () => requestPasswordReset(context, realm, email));
      return send(request, reply, { status: 200, ...mailSent(home, email) });
    });
  });
  const showReset = async (request: VisitorRequest, reply: FastifyReply, form: FormState, status = 200) => {
    const token = request.params.token ?? '';
    const account = await findPasswordLink(context, token);
    if (!account) return send(request, reply, { status: 404, ...endedLink(home) });
    const page = narrowPage(
      'Choose a new password',
      html`<form method="post" action="${home}/reset/${token}" class="stack">
${guardField(request)}${formSummary(form, ['password'])}
<p>For ${account.email}. Every browser that is signed in will be signed out.</p>
${textField(form, { name: 'password', label: 'New password', type: 'password', autocomplete: 'new-password' })}
<button class="button">Save password</button>
</form>`,
    );
    return send(request, reply, { status, ...page });
  };
  scope.get('/reset/:token', async (request: VisitorRequest, reply) => showReset(request, reply, emptyForm));
  scope.post('/reset/:token', async (request: VisitorRequest, reply) => {
    const refuse = (form: FormState, status: number) => showReset(request, reply, form, status);
    return submitForm(request, refuse, async ({ password = '' }) => {
      visitorLimit.take(request.ip);
      const { token = '' } = request.params;
      const link = { token, password, client: clientOf(request) };
      const account = await resetPassword(context, link);
      if (!account) return send(request, reply, { status: 404, ...endedLink(home) });
      await forgetWrongPasswords(context, account, cookies.knownDevice(request, account.email));
      cookies.clear(request, reply);
      return seeOther(reply, `${home}/sign-in?after=password`);
    });
  });
}

// Longer than a login and its business take to be created.
const equalTimeMs = 500;

/** Takes as long for an address with a login as for one without, so that the time does not tell either. */
async function inEqualTime(clock: Clock, work: () => Promise<void>): Promise<void> {
  await Promise.all([work(), clock.sleep(equalTimeMs)]);
}

/** A refusal takes as long, whatever was written about it; whoever gets in does not wait. */
async function refusedInEqualTime<Result>(clock: Clock, work: () => Promise<Result>): Promise<Result> {
  const finished = new AbortController();
  const equalTime = clock.sleep(equalTimeMs, finished.signal);
  try {
    return await work();
  } catch (error) {
    await equalTime;
    throw error;
  } finally {
    finished.abort();
  }
}

/** Where to go after signing in: a page of the same realm only, so that no link leads from here to another site. */
export function ownPath(home: string, next: unknown): string {
  const isOwn =
    typeof next === 'string' &&
    next.startsWith(`${home}/`) &&
    /^[\w/.~-]*(?:\?[\w=&%.~+:-]*)?$/.test(next) &&
    !next.includes('//');
  return isOwn ? next : `${home}/`;
}

export function withNext(path: string, next: string): string {
  return `${path}?next=${encodeURIComponent(next)}`;
}
