import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createCharge } from '../../../../test/harness/api-client.ts';
import { accessibilityViolations, openOwnPage, openPage, type Page } from '../../../../test/harness/browser.ts';
import { openDashboardWorld, type DashboardWorld, type Member } from '../../../../test/harness/dashboard-world.ts';
import { asOwner } from '../../../../test/harness/tables.ts';
import { eventually } from '../../../../test/harness/eventually.ts';
import { startTcpProxy, type TcpProxy } from '../../../../test/harness/tcp-proxy.ts';
import { changeRole } from '../../accounts/team.ts';

let world: DashboardWorld;
let line: TcpProxy;

before(async () => {
  world = await openDashboardWorld();
  line = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(world.service.url).port) });
});

after(async () => {
  await line.close();
  await world.stop();
});

/** The address of a page over a line that the test can cut. */
function overLine(path: string): string {
  const url = new URL(world.at(path));
  url.port = String(line.port);
  return url.href;
}

async function pay(): Promise<string> {
  const id = await createCharge(world.api);
  await world.service.app.drain();
  return id;
}

const isSame = (page: Page) => page.evaluate<boolean>('window.isSame === true');

test('payments appear on an open list where nobody reads, typed text stays, and a lost line is said', async () => {
  const owner = await world.signIn('owner');
  await using opened = await openOwnPage({ visitor: owner });
  const { page } = opened;
  const first = await pay();
  await page.clock.install();
  // The first request for the stream fails: the page asks again by itself.
  await page.route(/\/stream\?/, (route) => route.fulfill({ status: 429 }), { times: 1 });
  await page.goto(overLine('/payments'));
  await page.getByText('Not live: too many pages are open. Close one.', { exact: true }).waitFor();
  assert.match(opened.pageErrors.splice(0).join(), /429/);
  await page.clock.fastForward(20_000);
  await page.getByText(/^Live \d\d:\d\d:\d\d$/).waitFor();
  await page.evaluate('window.isSame = true');
  const search = page.getByRole('searchbox');
  await search.fill('half a na');
  const second = await createCharge(world.api);
  await page.locator(`#row-${second}`).waitFor();
  await world.service.app.drain();
  await page.locator(`#row-${second} .state.good`).first().waitFor({ state: 'attached' });
  await page.locator('#count', { hasText: '2 payments, D200.00 paid' }).waitFor();
  // Somebody is at a row: what comes now waits.
  await page.locator(`#row-${first} a`).focus();
  const third = await pay();
  await page.getByRole('link', { name: '1 new, D100.00: Show' }).waitFor();
  assert.equal(await page.locator(`#row-${third}`).count(), 0);
  await page.getByRole('link', { name: '1 new, D100.00: Show' }).click();
  await page.locator(`#row-${third}`).waitFor();
  assert.deepEqual(opened.pageErrors, []);
  assert.deepEqual(await accessibilityViolations(page), []);
  await page.getByText(/^Live \d\d:\d\d:\d\d$/).waitFor();
  await page.evaluate('document.activeElement.blur(), scrollTo(0, 0)');
  await line.cut();
  await page.getByText(/^No connection since \d\d:\d\d:\d\d$/).waitFor();
  const missed = await pay();
  await line.restore();
  await page.locator(`#row-${missed}`).waitFor();
  await page.getByText(/^Live \d\d:\d\d:\d\d$/).waitFor();
  // A line that falls silent ends no connection: the page notices by itself, and finds another.
  line.silence();
  // In a tablet that has slept performance.now() has stood still, and what it shows is as old.
  await page.clock.setSystemTime((await page.evaluate<number>('Date.now()')) + 3_600_000);
  await page.clock.runFor(1_000);
  assert.equal(await page.locator('body.is-lost').count(), 1, 'a page that woke does not say that it is live');
  const unheard = await pay();
  await line.restore();
  await eventually('the page listens again after a silence', async () => {
    await page.clock.fastForward(6_000);
    return (await page.locator(`#row-${unheard}`).count()) === 1;
  });
  assert.equal(await search.inputValue(), 'half a na');
  assert.equal(await isSame(page), true, 'the page was never loaded again');
  await using plain = await openPage({ visitor: owner, scripts: false });
  await plain.page.goto(world.at('/payments'));
  await plain.page.getByRole('link', { name: 'Check again' }).click();
  assert.equal(await plain.page.locator('tbody tr').count(), 5);
});

test('a payment that matches the filters only now enters by its age; another page’s change is no arrival', async () => {
  const owner = await world.signIn('owner');
  await using opened = await openOwnPage({ visitor: owner });
  const { page } = opened;
  const { body: older } = await world.api.post('/v1/payments', { data: { amount: 20 } });
  const newer = await pay();
  await page.goto(world.at('/payments?status=successful'));
  await page.getByText(/^Live \d\d:\d\d:\d\d$/).waitFor();
  const headers = { 'sec-fetch-site': 'same-origin' };
  const typed = new URLSearchParams({ network: 'aps', account_number: '7000001' });
  assert.equal((await fetch(String(older['payment_link']), { method: 'POST', headers, body: typed })).status, 200);
  await world.service.app.drain();
  const row = `#row-${String(older['payment_intent_id'])}`;
  await page.locator(`#row-${newer} + ${row}`).waitFor();
  const numbers = Array.from({ length: 25 }, (_, index) => index);
  const newest = await Promise.all(numbers.map(() => world.api.post('/v1/payments', { data: { amount: 20 } })));
  // What changed in the moments before a page was drawn comes once more.
  await asOwner(world.service, `UPDATE payment_intents SET updated_at = updated_at - interval '1 minute'`);
  await page.goto(world.at('/payments'));
  await page.getByRole('link', { name: 'Older' }).click();
  await page.locator(row).waitFor();
  await page.getByText(/^Live \d\d:\d\d:\d\d$/).waitFor();
  await world.api.post(`/v1/payments/${String(newest.at(-1)?.body['payment_intent_id'])}/cancel`);
  await createCharge(world.api);
  await page.getByRole('link', { name: 'new, D' }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'new, D' }).textContent(), '1 new, D100.00: Show');
});

test('on a slow line a pressed button says that it is sending, once, and a list that it is old', async () => {
  const owner = await world.signIn('owner');
  await pay();
  await using opened = await openOwnPage({ visitor: owner });
  const { page } = opened;
  await page.goto(world.at('/payments'));
  const response = Promise.withResolvers<void>();
  await page.route(/\/payments\?/, (route) => response.promise.then(() => route.continue()));
  const opacity = () => page.evaluate<string>(`getComputedStyle(document.getElementById('list')).opacity`);
  assert.equal(await opacity(), '1');
  await page.getByRole('searchbox').fill('nobody');
  await page.keyboard.press('Enter');
  await eventually('the list looks old', async () => (await opacity()) === '0.5');
  response.resolve();
  await page.getByText('Clear').first().waitFor();
  assert.equal(await opacity(), '1');
  await page.goto(world.at('/payments/new'));
  // As a line does on which nothing comes back: the page stays.
  await page.evaluate(
    `window.sent = 0; addEventListener('submit', (event) => { if (!event.defaultPrevented) sent += 1; event.preventDefault(); })`,
  );
  await page.getByLabel('Amount in dalasi').fill('45');
  const button = page.locator('main form .actions button').first();
  const name = await button.innerText();
  await button.click();
  await button.click();
  assert.deepEqual([await button.innerText(), await page.evaluate<number>('window.sent')], ['Sending…', 1]);
  await page.evaluate(`dispatchEvent(new Event('pageshow'))`);
  assert.deepEqual([await button.innerText(), await button.getAttribute('aria-busy')], [name, null]);
  assert.deepEqual(opened.pageErrors, []);
});

async function newCounter(): Promise<string> {
  const request = { name: 'Front counter', chat_numbers: ['7012345'] };
  return String((await world.api.post('/v1/virtual-terminals', request)).body['id']);
}

/** Enters an amount at the counter and pays it as its payer does, from another browser. */
async function payAtCounter(till: Page, amount: string): Promise<void> {
  await till.getByRole('link', { name: 'Enter an amount' }).click();
  await till.getByLabel('Amount in dalasi').fill(amount);
  await till.getByRole('button', { name: 'Show the code' }).click();
  await till.getByText('Not paid yet').waitFor();
  const link = await till.getByRole('link', { name: '/pay/' }).getAttribute('href');
  await using opened = await openPage();
  const payer = opened.page;
  await payer.goto(String(link));
  await payer.getByRole('radio', { name: 'APS' }).check();
  await payer.getByLabel('Your mobile-money number').fill('7000001');
  await payer.getByRole('button', { name: 'Pay' }).click();
  await world.service.app.drain();
}

// Each sound is two of them.
const countTones = `window.tones = 0;
const { start } = OscillatorNode.prototype;
OscillatorNode.prototype.start = function (...at) { window.tones += 1; return start.apply(this, at); };
const { resume } = AudioContext.prototype;
AudioContext.prototype.resume = function () { window.audio = this; return resume.call(this); };`;
const tonesOf = (page: Page) => page.evaluate<number>('window.tones');

test('a counter’s screen shows who paid, sounds once, and tells what came while the line was lost', async () => {
  const counter = await newCounter();
  const cashier = await world.signIn('cashier', { terminalIds: [counter] });
  await using opened = await openOwnPage({ visitor: cashier, width: 1024, height: 768 });
  await using other = await openOwnPage({ visitor: cashier });
  const [screen, till] = [opened.page, other.page];
  const path = `/counters/${counter}/screen`;
  await screen.addInitScript(countTones);
  await screen.route(/\.js$/, (route) => route.abort(), { times: 1 });
  await screen.goto(overLine(path));
  await screen.getByText('Not live yet', { exact: true }).waitFor();
  assert.match(opened.pageErrors.splice(0).join(), /ERR_FAILED/);
  await screen.goto(overLine(path));
  await screen.getByText(/^Live/).waitFor();
  await screen.getByRole('button', { name: 'Tap for sound' }).click();
  await screen.getByRole('button', { name: 'Sound on' }).waitFor();
  assert.equal(await tonesOf(screen), 2, 'a tap lets one hear it');
  // As a tablet does that sleeps, or on which a call comes in.
  await screen.evaluate('audio.suspend()');
  await screen.getByRole('button', { name: 'Tap for sound' }).waitFor();
  await screen.getByText('Test: no real money moves').click();
  await screen.getByRole('button', { name: 'Sound on' }).waitFor();
  await screen.getByText('Test: no real money moves').waitFor();
  await till.goto(world.at(path));
  await payAtCounter(till, '125');
  await till.locator('#record .state.good').waitFor();
  await screen.locator('.newest .large', { hasText: 'D125.00' }).waitFor();
  const code = await screen.locator('.newest .code').innerText();
  assert.match(code, /^[0-9A-Z]{4}$/);
  assert.ok((await screen.locator('#announced').innerText()).startsWith(`D125.00 ${code} Paid`), 'announced');
  assert.equal(await tonesOf(screen), 4);
  assert.deepEqual(opened.pageErrors, []);
  assert.deepEqual(await accessibilityViolations(screen), []);
  await line.cut();
  await screen.locator('body.is-lost').waitFor();
  await screen.getByText('Arrivals are not shown while the connection is lost.').waitFor();
  for (const amount of ['50', '300']) {
    await till.goto(world.at(path));
    await payAtCounter(till, amount);
  }
  await line.restore();
  await screen.getByText('Back: 2 came meanwhile, marked below.').waitFor();
  assert.equal(await screen.locator('.is-new').count(), 2);
  assert.equal(await tonesOf(screen), 6, 'one sound for both');
  await screen.getByRole('button', { name: 'Sound on' }).click();
  await till.goto(world.at(path));
  await payAtCounter(till, '75');
  await screen.locator('.newest .large', { hasText: 'D75.00' }).waitFor();
  assert.equal(await screen.locator('.is-new').count(), 3, 'what came meanwhile stays marked until it is seen');
  assert.equal(await tonesOf(screen), 6, 'switched off');
  await screen.getByRole('button', { name: 'Seen' }).click();
  assert.equal(await screen.locator('.is-new').count(), 0);
  await closesDay(till, counter);
  const manifest = (await (await cashier.get(world.at(`${path}/manifest`))).json()) as Record<string, unknown>;
  assert.equal(manifest['start_url'], new URL(world.at(path)).pathname);
  const short = await cashier.get(`${world.service.url}/dashboard/counter/${counter}`);
  assert.equal(short.headers.get('location'), new URL(world.at(path)).pathname);
  const stranger = await world.signIn('cashier', { terminalIds: [await newCounter()] });
  for (const hidden of [path, `${path}/manifest`, `/stream?counter=${counter}`]) {
    assert.equal((await listen(stranger, hidden)).status, 404, hidden);
  }
});

/** The totals of the day, on the page that is printed at closing; all four payments, also where midnight came between them. */
async function closesDay(till: Page, counter: string): Promise<void> {
  await till.goto(world.at(`/counters/${counter}/day`));
  const today = await dayTotals(till);
  await till.getByRole('link', { name: 'The day before' }).click();
  await till.getByRole('link', { name: 'The day after' }).waitFor();
  const yesterday = await dayTotals(till);
  assert.deepEqual([today.count + yesterday.count, today.dalasi + yesterday.dalasi], [4, 550]);
}

async function dayTotals(page: Page): Promise<{ count: number; dalasi: number }> {
  const valueOf = (name: string) =>
    page
      .locator('dt', { hasText: new RegExp(`^${name}$`) })
      .locator('+ dd')
      .innerText();
  const [count, sum] = [await valueOf('Payments'), await valueOf('Sum of the day')];
  if (count !== '0')
    assert.equal(await page.getByRole('row', { name: 'Together' }).getByText(sum).count(), 1, 'by network too');
  return { count: Number(count), dalasi: Number(sum.slice(1)) };
}

/** Opens a page as a script does that takes an event stream. */
function listen(member: Member, path: string, signal: AbortSignal | null = null): Promise<Response> {
  const headers = { cookie: member.cookie, accept: 'text/event-stream', 'hx-request': 'true' };
  return fetch(world.at(path), { headers, signal, redirect: 'manual' });
}

test('a person has eight streams at a time, and a role taken away ends them', async () => {
  const owner = await world.signIn('owner');
  const member = await world.signIn('finance');
  const left = new AbortController();
  const first = await listen(member, '/stream?list=payments', left.signal);
  const others = await Promise.all(Array.from({ length: 7 }, () => listen(member, '/stream?list=payments')));
  assert.deepEqual(new Set([first, ...others].map(({ status }) => status)), new Set([200]));
  const ninth = await listen(member, '/stream?list=payments');
  assert.deepEqual([ninth.status, ninth.headers.get('retry-after')], [429, '30']);
  assert.equal((await listen(owner, '/stream?list=payments', AbortSignal.any([left.signal]))).status, 200);
  left.abort();
  await eventually('one that has ended makes room', async () => {
    const next = await listen(member, '/stream?list=payments');
    if (next.ok) others.push(next);
    return next.ok;
  });
  const { businessId } = world.business.test.merchant;
  await world.service.db.withTransaction((tx) =>
    changeRole(tx, world.accounts, {
      ...{ businessId, accountId: member.account.id },
      grant: { role: 'developer', terminalIds: [] },
    }),
  );
  // A change wakes the streams at once; without one they look at each heartbeat.
  await createCharge(world.api);
  const endings = await Promise.all(others.map((response) => response.text()));
  assert.equal(endings.length, 8);
  assert.equal((await fetch(world.at('/stream'), { headers: { 'hx-request': 'true' } })).status, 401);
});
