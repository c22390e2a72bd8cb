import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openPage } from '../../../../test/harness/browser.ts';
import { openDashboardWorld, type DashboardWorld } from '../../../../test/harness/dashboard-world.ts';
import { eventually } from '../../../../test/harness/eventually.ts';

let world: DashboardWorld;

before(async () => {
  world = await openDashboardWorld();
});

after(async () => {
  await world.stop();
});

for (const look of [
  { width: 360, height: 740, scripts: false },
  { width: 1280, height: 800, dark: true },
]) {
  test(`a developer adds an endpoint, tests it and reads requests and events at ${look.width}`, async () => {
    const developer = await world.signIn('developer');
    await using opened = await openPage({ visitor: developer, ...look });
    const { page } = opened;
    const check = async (heading: string): Promise<void> => {
      assert.match(await page.locator('h1').innerText(), new RegExp(heading));
      const width = await page.locator('html').evaluate((element) => element.scrollWidth);
      assert.ok(width <= look.width, `${heading} is ${width} pixels wide`);
    };
    await page.goto(world.at('/endpoints/new'));
    await page.getByLabel('Address').fill('http://localhost:9/hooks');
    await page.getByRole('button', { name: 'Create the endpoint' }).click();
    await check('The endpoint is created');
    assert.match(await page.getByLabel('Signing secret').inputValue(), /^wh_/);
    await page.getByRole('link', { name: 'I have copied it' }).click();
    await page.getByRole('link', { name: 'Send a test event' }).click();
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await check('webhook_endpoint.test');
    await world.api.post('/v1/payments', { data: { amount: 5 } }, { 'idempotency-key': `order ${look.width}` });
    await world.service.app.drain();
    await page.reload();
    await page.getByRole('link', { name: 'localhost:9/hooks' }).click();
    await check('localhost:9/hooks');
    await page.goto(world.at(`/requests?term=order+${look.width}`));
    await check('Requests');
    await page.getByRole('link', { name: 'POST /v1/payments' }).click();
    await check('POST /v1/payments');
    await page.getByRole('link', { name: `order ${look.width}` }).click();
    await page.getByText('Stored response 201').waitFor();
    await check('Look up an idempotency key');
    await page.goto(world.at('/keys/new'));
    await page.getByLabel('Name').fill('Till');
    await page.getByLabel('Code of your authenticator app').fill(developer.code());
    await page.getByRole('button', { name: 'Create the key' }).click();
    await check('Your new test key');
    const key = await page.getByLabel('API key').inputValue();
    assert.match(key, /^sk_test_/);
    await page.reload();
    assert.ok(!(await page.content()).includes(key), 'a reload shows no key');
    await page.goto(world.at('/keys'));
    // The browser may hold no copy, so it shows a page of its own.
    await page.goBack().catch(() => null);
    await eventually('Back leads to where the key was, and shows none', async () => {
      const text = await page.content().catch(() => key);
      return page.url() !== world.at('/keys') && !text.includes(key);
    });
    for (const [path, heading] of [
      ['/events', 'Events'],
      ['/keys', 'API keys'],
      ['/reference', 'API reference'],
    ] as const) {
      await page.goto(world.at(path));
      await check(heading);
    }
    if (look.scripts === false) return;
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.url()));
    await page.getByLabel('Your test key').fill('sk_test_abc123');
    assert.match((await page.locator('[data-example]').first().textContent()) ?? '', /sk_test_abc123/);
    assert.deepEqual(sent, [], 'the key stays in the page');
  });
}
