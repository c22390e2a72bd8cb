import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fastify, { type FastifyInstance } from 'fastify';
import { Secret, TOTP } from 'otpauth';
import { accessibilityViolations, openOwnPage, openPage, type Page } from '../../../test/harness/browser.ts';
import { client, openAccountWorld, password, type AccountWorld } from '../accounts/account-world.corpus.ts';
import { deleteSessions, listOwnSessions } from '../accounts/sessions.ts';
import { signIn as signInAs } from '../accounts/sign-in.ts';
import { inviteMember, listTeam } from '../accounts/team.ts';
import { createServiceLog } from '../api/service-log.ts';
import { portalPages } from './portal-pages.ts';
import { deviceName } from './visitor.ts';

let app: FastifyInstance;
let world: AccountWorld;
let baseUrl = '';
/** How pages sleep: not at all, unless a test holds them. */
let sleep: () => Promise<void> = () => Promise.resolve();
/** What happens while the body of a request arrives. */
let meanwhile: () => Promise<unknown> = () => Promise.resolve();

before(async () => {
  world = await openAccountWorld('portal', () => baseUrl);
  app = fastify();
  app.addHook('preParsing', async () => void (await meanwhile()));
  await app.register(portalPages, {
    context: { ...world.context, clock: { now: () => world.clock.now(), sleep: () => sleep() } },
    log: createServiceLog({ level: 'error' }),
    publicUrl: () => baseUrl,
    formKey: 'a key of the tests',
    isSignUpOpen: true,
    createBusiness: world.createBusiness,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const address = app.server.address();
  // Passkeys belong to a host name.
  baseUrl = `http://localhost:${typeof address === 'object' ? address?.port : ''}`;
});

after(async () => {
  await app.close();
  await world.close();
});

const at = (path: string): string => `${baseUrl}/dashboard${path}`;

/** Every page on the way is accessible, no wider than the screen, and breaks no content policy. */
async function assertSound(page: Page, { scripts = true } = {}): Promise<void> {
  if (scripts) assert.deepEqual(await accessibilityViolations(page), [], page.url());
  assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false, page.url());
}

/** The browser's own line about a form that came back with its errors is none, nor that about the dashboard. */
const otherErrors = (errors: readonly string[]): string[] => errors.filter((text) => !/status of 40[04]/.test(text));

async function fillIn(page: Page, fields: Record<string, string>): Promise<void> {
  for (const [label, value] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(value);
}

async function signIn(page: Page, email: string): Promise<void> {
  await page.goto(at('/sign-in'));
  await fillIn(page, { 'E-mail address': email, Password: password });
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Whoever has one business lands on its dashboard, which this server does not have. */
async function landed(page: Page): Promise<void> {
  await page.waitForURL(/\/dashboard\/test\/\w{8}$/);
  await page.goto(at('/businesses'));
  await page.getByRole('heading', { name: 'Your businesses' }).waitFor();
}

for (const view of [
  { width: 360, height: 740, scripts: false },
  { width: 1280, height: 800, dark: true },
]) {
  const { scripts = true } = view as { scripts?: boolean };
  test(`at ${view.width} pixels a person signs up, confirms the address, signs in and out`, async () => {
    await using opened = await openPage(view);
    const { page } = opened;
    const email = `awa-${view.width}@example.gm`;
    await page.goto(at('/sign-up'));
    await assertSound(page, { scripts });
    const fields = { 'Name of your business': 'Kairaba Books', 'Your name': 'Awa', 'E-mail address': email };
    await fillIn(page, { ...fields, Password: 'password123' });
    await page.getByRole('button', { name: 'Sign up' }).click();
    await page.getByText('easy to guess').waitFor();
    // A screen reader reads it with the field.
    await page.locator('#password:focus').waitFor();
    await assertSound(page, { scripts });
    assert.equal(await page.getByLabel('Your name').inputValue(), 'Awa', 'nothing typed is lost');
    assert.equal(await page.getByLabel('Password').inputValue(), '', 'but secrets');
    await fillIn(page, { Password: password });
    await page.getByRole('button', { name: 'Sign up' }).click();
    await page.getByRole('heading', { name: 'Look into your mail' }).waitFor();
    await page.goto(at(`/verify/${world.newestToken()}`));
    await assertSound(page, { scripts });
    await page.getByRole('button', { name: 'Confirm the address' }).click();
    await page.getByRole('heading', { name: 'Your address is confirmed' }).waitFor();
    await signIn(page, email);
    await landed(page);
    await page.getByText('Kairaba Books').waitFor();
    await assertSound(page, { scripts });
    await page.getByRole('link', { name: 'Your login' }).click();
    await page.getByText('(this browser)').waitFor();
    await assertSound(page, { scripts });
    await page.goto(at('/businesses'));
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto(at('/account'));
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.deepEqual(otherErrors(opened.pageErrors), []);
  });
}

test('an authenticator app is set up with recovery codes, and asked for at the next sign-in', async () => {
  await using opened = await openOwnPage();
  const { page } = opened;
  await world.addOwner('app@example.gm');
  await signIn(page, 'app@example.gm');
  await page.goto(at('/account'));
  await page.getByRole('button', { name: 'Set up an authenticator app' }).click();
  const secret = (await page.locator('.secret').innerText()).replaceAll(' ', '');
  const app2 = new TOTP({ secret: Secret.fromBase32(secret) });
  const code = () => app2.generate({ timestamp: world.clock.now().getTime() });
  await assertSound(page);
  await fillIn(page, { Code: '000000' });
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('This code is not right').waitFor();
  await fillIn(page, { Code: code() });
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor();
  const recovery = await page.locator('.codes li').allInnerTexts();
  assert.equal(recovery.length, 10);
  const { subject, to } = world.mails.at(-1) ?? {};
  assert.deepEqual([subject, to], ['A second factor was added', 'app@example.gm']);
  await assertSound(page);
  await page.context().clearCookies();
  await world.clock.advance(60_000);
  await signIn(page, 'app@example.gm');
  await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor();
  await assertSound(page);
  await page.goto(at('/businesses'));
  await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor();
  await fillIn(page, { Code: recovery[3] ?? '' });
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Your businesses' }).waitFor();
  assert.deepEqual(otherErrors(opened.pageErrors), []);
});

test('a passkey signs in without a password; removed, it opens nothing, and ends other sessions', async () => {
  await using opened = await openOwnPage();
  const { page } = opened;
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
      ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  await world.addOwner('passkey@example.gm');
  const { session: elsewhere } = await login('passkey@example.gm');
  await signIn(page, 'passkey@example.gm');
  await page.goto(at('/account/passkeys/new'));
  await assertSound(page);
  await fillIn(page, { Name: 'my phone' });
  await page.getByRole('button', { name: 'Add the passkey' }).click();
  await page.getByRole('heading', { name: 'Your login' }).waitFor();
  await page.getByText('my phone').waitFor();
  await page.context().clearCookies();
  await page.goto(at('/sign-in'));
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await landed(page);
  assert.equal((await send('/account', { cookie: elsewhere })).status, 200);
  await page.goto(at('/account'));
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await page.getByRole('heading', { name: 'Your login' }).waitFor();
  assert.equal((await send('/account', { cookie: elsewhere })).status, 303, 'other browsers are signed out');
  await page.context().clearCookies();
  await page.goto(at('/sign-in'));
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.locator('[role=alert]:focus', { hasText: 'This passkey is not known here' }).waitFor();
});

/** A request as a program sends it. */
async function send(
  path: string,
  {
    form,
    cookie = '',
    headers = {},
  }: { form?: Record<string, string>; cookie?: string; headers?: Record<string, string> } = {},
) {
  const response = await fetch(at(path), {
    method: form ? 'POST' : 'GET',
    redirect: 'manual',
    headers: { cookie, ...(form && { 'sec-fetch-site': 'same-origin' }), ...headers },
    ...(form && { body: new URLSearchParams(form) }),
  });
  const cookies = response.headers.getSetCookie().map((line) => line.split(';')[0] ?? '');
  const session = cookies.find((each) => each.startsWith('merchant-session=')) ?? '';
  return {
    status: response.status,
    location: response.headers.get('location'),
    session,
    text: await response.text(),
    headers: response.headers,
  };
}

const login = (email: string, more: Record<string, string> = {}) =>
  send('/sign-in', { form: { email, password, ...more } });

test('by text and time, signing up and a forgotten password are the same for every address', async () => {
  await world.addOwner('known@example.gm');
  const more = { name: 'Awa', business_name: 'Shop', password };
  for (const path of ['/sign-up', '/forgotten']) {
    const pages: string[] = [];
    for (const email of ['known@example.gm', 'stranger@example.gm']) {
      const asleep = Promise.withResolvers<void>();
      const held = Promise.withResolvers<void>();
      sleep = () => {
        asleep.resolve();
        return held.promise;
      };
      let hasResponded = false;
      const response = send(path, { form: { email, ...more } }).finally(() => {
        hasResponded = true;
      });
      await Promise.race([asleep.promise, response]);
      // The answer waits, however much the server has answered meanwhile.
      await send('/sign-in');
      await send('/sign-in');
      assert.equal(hasResponded, false, `${path} ${email}`);
      held.resolve();
      const { status, text } = await response;
      pages.push(`${status} ${text.replaceAll(email, '')}`);
    }
    assert.equal(pages[0], pages[1], path);
  }
  sleep = () => Promise.resolve();
});

test('an invitation opened by somebody else’s login says whose it is, and joins nobody', async () => {
  const { businessId } = await world.addOwner('inviter@example.gm');
  await world.addOwner('other@example.gm');
  const { context } = world;
  const { account: invitedBy } = await world.signIn('inviter@example.gm');
  await context.db.withTransaction((tx) =>
    inviteMember(tx, context, {
      ...{ business: { id: businessId, name: 'Kairaba Books' }, invitedBy, email: 'invited@example.gm' },
      grant: { role: 'finance', terminalIds: [] },
    }),
  );
  const path = `/invitation/${world.newestToken()}`;
  const { session: cookie } = await login('other@example.gm');
  const { text } = await send(path, { cookie });
  assert.match(text, /for invited@example\.gm, and you are signed in as other@example\.gm/);
  assert.doesNotMatch(text, /name="password"/);
  assert.equal((await send(path, { cookie, form: {} })).status, 409);
  assert.equal((await listTeam(context.db, businessId)).length, 1);
  assert.match((await send(path)).text, /name="password"/);
});

test('session fixation: a session that was put into the browser is not the one that is signed in', async () => {
  await world.addOwner('fixed@example.gm');
  const planted = 'merchant-session=chosenbyanattacker';
  const { session } = await send('/sign-in', { form: { email: 'fixed@example.gm', password }, cookie: planted });
  assert.match(session, /^merchant-session=[0-9A-Za-z]{43}$/);
  assert.equal((await send('/account', { cookie: planted })).status, 303);
  assert.equal((await send('/account', { cookie: session })).status, 200);
});

test('mass assignment: signing up takes no other field, and makes no operator or confirmed login', async () => {
  const email = 'assigned@example.gm';
  const own = { name: 'Awa', business_name: 'Shop', email, password };
  const { businessId } = await world.addOwner('victim@example.gm');
  const extra = { realm: 'operator', role: 'admin', email_verified_at: '2026-01-01', emailVerifiedAt: '2026-01-01' };
  const form = { ...own, ...extra, business_id: businessId, businessId, id: businessId };
  assert.equal((await send('/sign-up', { form })).status, 200);
  const { status, text } = await login(email);
  assert.deepEqual([status, /Confirm your e-mail address first/.test(text)], [409, true]);
  assert.equal((await listTeam(world.context.db, businessId)).length, 1);
  const asOperator = { email, password, client, knownDevice: null };
  await assert.rejects(signInAs(world.context, 'operator', asOperator), /do not match/);
});

test('open redirect: after signing in a link leads to the dashboard only', async () => {
  await world.addOwner('redirect@example.gm');
  for (const next of [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/dashboard//evil.example',
    '/dashboard/?x=//evil.example',
    '/dashboard/\r\nset-cookie:x=1',
    '/pay/x',
    '',
  ]) {
    assert.equal((await login('redirect@example.gm', { next })).location, '/dashboard/', next);
  }
  const { location } = await send('/account?range=30&day=2026-11-24');
  const next = new URL(location ?? '', baseUrl).searchParams.get('next') ?? '';
  assert.equal((await login('redirect@example.gm', { next })).location, '/dashboard/account?range=30&day=2026-11-24');
});

test('cross-site request: no form of another site or session, or without a proof, does anything', async () => {
  await world.addOwner('forged@example.gm');
  const { session: cookie } = await login('forged@example.gm');
  const { session: other } = await login('forged@example.gm');
  const proof = /name="form_proof" value="([^"]+)"/.exec((await send('/account', { cookie: other })).text)?.[1] ?? '';
  assert.notEqual(proof, '');
  const forged: { headers?: Record<string, string>; form: Record<string, string> }[] = [
    { form: {}, headers: { 'sec-fetch-site': 'cross-site' } },
    { form: {}, headers: { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' } },
    { form: {}, headers: { 'sec-fetch-site': 'none' } },
    { form: { form_proof: proof }, headers: { 'sec-fetch-site': 'none' } },
  ];
  for (const each of forged) assert.equal((await send('/account/sessions/end', { cookie, ...each })).status, 403);
  assert.equal((await send('/account', { cookie: other })).status, 200, 'nothing was ended');
  assert.equal((await send('/account/sessions/end', { cookie, form: {} })).status, 303);
  assert.equal((await send('/account', { cookie: other })).status, 303);
});

test('a form whose session ends while it arrives does nothing', async (t) => {
  const { accountId } = await world.addOwner('ended@example.gm');
  const { session: cookie } = await login('ended@example.gm');
  t.after(() => (meanwhile = () => Promise.resolve()));
  meanwhile = async () => {
    await world.context.db.run(deleteSessions(accountId, null));
    await world.signIn('ended@example.gm');
  };
  const { location } = await send('/account/sessions/end', { cookie, form: {} });
  assert.equal(location, '/dashboard/sign-in');
  assert.equal((await listOwnSessions(world.context, accountId)).length, 1, 'the newer session was not ended');
});

test('clickjacking: no page can be framed; cookies are hidden from scripts and other sites', async () => {
  for (const path of ['/sign-in', '/sign-up', '/forgotten', '/account', '/no-such-page']) {
    const { headers } = await send(path);
    if (headers.get('location') !== null) continue;
    const policy = headers.get('content-security-policy') ?? '';
    assert.match(
      policy,
      /default-src 'none'; style-src 'self'; script-src 'self'.*form-action 'self'.*frame-ancestors 'none'/,
    );
    assert.doesNotMatch(policy, /unsafe/);
    assert.equal(headers.get('cache-control'), 'no-store');
  }
  await world.addOwner('cookies@example.gm');
  const { headers } = await login('cookies@example.gm');
  for (const line of headers.getSetCookie()) assert.match(line, /HttpOnly; SameSite=Lax$/);
});

test('on https every cookie of signing in is __Host-, Secure, HttpOnly and SameSite', async () => {
  await world.addOwner('secure@example.gm');
  const address = baseUrl;
  const responses = [];
  baseUrl = 'https://pay.example.gm';
  for (const form of [undefined, { email: 'secure@example.gm', password }]) {
    responses.push(
      await fetch(`${address}/dashboard/sign-in?lang=fr`, {
        ...{ method: form ? 'POST' : 'GET', redirect: 'manual', headers: { 'sec-fetch-site': 'same-origin' } },
        ...(form && { body: new URLSearchParams(form) }),
      }),
    );
  }
  baseUrl = address;
  const lines = responses.flatMap(({ headers }) => headers.getSetCookie());
  assert.ok(
    lines.some((line) => line.startsWith('__Host-merchant-session=')),
    String(lines),
  );
  for (const line of lines) {
    assert.match(line, /^__Host-[\w-]+=[^;]*; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  }
});

test('the name of a browser is what people call it', () => {
  const names = {
    'Mozilla/5.0 (Linux; Android 14; K) AppleWebKit/537.36 Chrome/147.0.0.0 Mobile Safari/537.36': 'Chrome on Android',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Safari/604.1':
      'Safari on iPhone',
    'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0': 'Firefox on Linux',
    'curl/8.5.0': 'Unknown browser',
  };
  for (const [text, name] of Object.entries(names)) assert.equal(deviceName(text), name);
});
