import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fastify, { type FastifyInstance } from 'fastify';
import { Secret, TOTP } from 'otpauth';
import { openAccountWorld, password, type AccountWorld } from '../accounts/account-world.corpus.ts';
import { createServiceLog } from '../api/service-log.ts';
import { portalPages } from './portal-pages.ts';

let app: FastifyInstance;
let world: AccountWorld;
/** How pages sleep: not at all, unless a test holds them. */
let sleep: () => Promise<void> = () => Promise.resolve();

before(async () => {
  world = await openAccountWorld('sign-in steps');
  app = fastify();
  await app.register(portalPages, {
    context: { ...world.context, clock: { now: () => world.clock.now(), sleep: () => sleep() } },
    log: createServiceLog({ level: 'error' }),
    publicUrl: () => 'http://localhost',
    formKey: 'a key of the tests',
    isSignUpOpen: true,
    createBusiness: world.createBusiness,
  });
});

after(async () => {
  await app.close();
  await world.close();
});

interface Sent {
  form?: Record<string, string>;
  cookie?: string;
  method?: 'GET' | 'HEAD';
}

async function send(path: string, { form, cookie = '', method = 'GET' }: Sent = {}) {
  const response = await app.inject({
    ...{ method: form ? 'POST' : method, url: `/dashboard${path}` },
    headers: { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' },
    ...(form && { payload: new URLSearchParams(form).toString() }),
  });
  const session = response.cookies.find(({ name }) => name === 'merchant-session')?.value ?? '';
  const { statusCode: status, headers, body: text } = response;
  return { status, location: headers.location, text, cookie: `merchant-session=${session}` };
}

const login = (email: string, secret = password) => send('/sign-in', { form: { email, password: secret } });

test('a program that opens the link of a mail, as scanners do, confirms no address; a person does', async () => {
  const email = 'scanned@example.gm';
  assert.equal((await send('/sign-up', { form: { name: 'Awa', business_name: 'Shop', email, password } })).status, 200);
  const path = `/verify/${world.newestToken()}`;
  for (const method of ['GET', 'HEAD', 'GET'] as const)
    assert.equal((await send(path, { method })).status, 200, method);
  assert.match((await login(email)).text, /Confirm your e-mail address first/);
  const newest = `/verify/${world.newestToken()}`;
  assert.match((await send(newest)).text, /sign up with scanned@example\.gm/);
  assert.match((await send(newest, { form: {} })).text, /Your address is confirmed/);
  assert.equal((await login(email)).status, 303);
  for (const again of [{}, { form: {} }]) assert.equal((await send(newest, again)).status, 404);
});

test('a refused sign-in takes as long for an address without a login, and whoever gets in does not wait', async () => {
  await world.addOwner('timed@example.gm');
  for (const email of ['timed@example.gm', 'nobody@example.gm']) {
    const [asleep, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    sleep = () => {
      asleep.resolve();
      return held.promise;
    };
    let hasResponded = false;
    const refused = login(email, 'not this one').finally(() => {
      hasResponded = true;
    });
    await Promise.race([asleep.promise, refused]);
    assert.equal((await login('timed@example.gm')).status, 303);
    assert.equal(hasResponded, false, email);
    held.resolve();
    assert.equal((await refused).status, 400);
  }
  sleep = () => Promise.resolve();
});

test('who has chosen a new password signs in with it at once, however many wrong ones there were', async () => {
  const email = 'forgetful@example.gm';
  await world.addOwner(email);
  for (let tries = 0; tries < 11; tries += 1) await login(email, 'not this one');
  assert.equal((await login(email)).status, 429);
  assert.equal((await send('/forgotten', { form: { email } })).status, 200);
  const chosen = 'harmattan kora baobab lantern';
  assert.equal((await send(`/reset/${world.newestToken()}`, { form: { password: chosen } })).status, 303);
  assert.equal((await login(email, chosen)).status, 303);
});

test('who has a factor gives it again before a prepared app is shown or begins to count', async () => {
  const { context, clock } = world;
  const { accountId } = await world.addOwner('stolen@example.gm');
  const { cookie } = await login('stolen@example.gm');
  assert.equal((await send('/account/app', { form: {}, cookie })).location, '/dashboard/account/app');
  const secret = /class="secret">([^<]+)/.exec((await send('/account/app', { cookie })).text)?.[1] ?? '';
  await context.db.run({
    name: 'test_passkey',
    text: `INSERT INTO account_passkeys (account_id, id, credential_id, public_key, sign_count, name, created_at)
           VALUES ($1, $2, 'of-a-phone', '', 0, 'Phone', $3)`,
    values: [accountId, context.newId(), clock.now()],
  });
  const app2 = new TOTP({ secret: Secret.fromBase32(secret.replaceAll(' ', '')) });
  const code = app2.generate({ timestamp: clock.now().getTime() });
  for (const sent of [{ path: '/account/app' }, { path: '/account/app/confirm', form: { code } }]) {
    const { status, location } = await send(sent.path, { cookie, ...(sent.form && { form: sent.form }) });
    assert.deepEqual([status, location], [303, '/dashboard/second-factor?next=%2Fdashboard%2Faccount'], sent.path);
  }
  const confirmed = await context.db.rows({
    name: 'test_confirmed',
    text: 'SELECT FROM accounts WHERE id = $1 AND totp_confirmed_at IS NOT NULL',
    values: [accountId],
  });
  assert.equal(confirmed.length, 0);
});
