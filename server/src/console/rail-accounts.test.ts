import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openConsoleWorld, type ConsoleWorld } from '../../../test/harness/console-world.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { asOwner, countWaiting, whileLocked } from '../../../test/harness/tables.ts';
import { hiddenFields } from '../dashboard/patterns/form.corpus.ts';
import { GsmaProvider } from '../networks/gsma/gsma-provider.corpus.ts';

const provider = new GsmaProvider();
const firstKey = 'first-key-2d9af1';
const secondKey = 'second-key-6b07e3';
const config = JSON.stringify({ networks: [{ network: 'aps' }] });

let world: ConsoleWorld;
let baseUrl: string;

before(async () => {
  baseUrl = await provider.start();
  provider.keys.add(firstKey);
  world = await openConsoleWorld();
});

after(async () => {
  await world.stop();
  provider.close();
});

/** With a second factor; each code counts once, so each form is another admin's. */
async function asAdmin(path: string, fields: Readonly<Record<string, string>> = {}) {
  const admin = await world.signInOperator('admin');
  const response = await admin.submit(`/operator/rail-accounts${path}`, { ...fields, second_factor: admin.code() });
  return { status: response.status, text: await response.text() };
}

async function page(path: string): Promise<string> {
  return (await (await world.signInOperator('support')).get(`/operator/rail-accounts${path}`)).text();
}

async function auditOf(action: string): Promise<string> {
  const text = 'SELECT changes::text AS changes FROM audit_entries WHERE action = $1';
  const [entry] = await asOwner<{ changes: string }>(world.dashboard.service, text, [action]);
  assert.ok(entry, `${action} is audited`);
  return entry.changes;
}

test('an account is connected, tested, replaced and disabled in the console, which shows no secret', async () => {
  const account = { name: 'aps-main', environment: 'live', business: '', 'base-url': baseUrl, config };
  const added = await asAdmin('/new/gsma', { ...account, 'api-key': firstKey });
  assert.equal(added.status, 303, added.text);
  await eventually('it is listed as on', async () => /aps-main.*On/s.test(await page('')));
  const shown = await page('/aps-main');
  assert.match(shown, /\/networks\/aps-main\/callbacks/);
  const tested = await (await world.signInOperator('support')).submit('/operator/rail-accounts/aps-main/test', {});
  assert.match(await tested.text(), /aps-main works/);
  assert.equal((await asAdmin('/aps-main/rotate', { 'api-key': secondKey, overlap: '1' })).status, 303);
  assert.match((await asAdmin('/aps-main/test')).text, /refuses the credential \(HTTP 401\)/);
  assert.equal((await asAdmin('/aps-main/order', { order: '5' })).status, 303);
  assert.equal((await asAdmin('/aps-main/disable')).status, 303);
  await eventually('it is shown as disabled', async () => /Disabled/.test(await page('/aps-main')));
  assert.equal((await asAdmin('/aps-main/enable')).status, 303);

  const changes = [
    ...['networks.add', 'networks.rotate', 'networks.order', 'networks.disable', 'networks.enable'].map(auditOf),
  ];
  const written = [...(await Promise.all(changes)), shown, await page(''), await page('/aps-main/rotate')].join('\n');
  assert.match(written, /API key/);
  for (const secret of [firstKey, secondKey]) assert.ok(!written.includes(secret), secret);
});

test('of two who order an account at the same moment one does, and the other is shown what holds now', async () => {
  const { service } = world.dashboard;
  const account = { name: 'aps-second', environment: 'live', business: '', 'base-url': baseUrl, config };
  assert.equal((await asAdmin('/new/gsma', { ...account, 'api-key': secondKey })).status, 303);
  const path = '/operator/rail-accounts/aps-second/order';
  const people = [await world.signInOperator('admin'), await world.signInOperator('admin')];
  const forms = await Promise.all(people.map(async (each) => hiddenFields(await (await each.get(path)).text())));
  const presses: Promise<Response>[] = [];
  await whileLocked(service, { text: 'SELECT FROM rail_accounts FOR UPDATE' }, async () => {
    presses.push(
      ...people.map((each, index) =>
        each.post(path, { ...forms[index], order: `${index + 3}`, second_factor: each.code() }),
      ),
    );
    await eventually('both have seen the default', async () => (await countWaiting(service.db)) === 2);
  });
  const [first, second] = (await Promise.all(presses)).toSorted((left, right) => left.status - right.status);
  assert.deepEqual([first?.status, second?.status], [303, 409]);
  assert.match((await second?.text()) ?? '', /This press did nothing[^]*value="[34]"/);
});

test('a refused form says what is wrong beside its field, and keeps what was typed except secrets', async () => {
  const typed = { environment: 'live', business: '', 'base-url': 'https://api.network.example', config };
  const { status, text } = await asAdmin('/new/gsma', { ...typed, name: 'aps-far', 'api-key': firstKey });
  assert.equal(status, 400);
  assert.match(text, /id="base-url-error"[^]*loopback addresses only/);
  assert.match(text, /value="aps-far"/);
  assert.ok(!text.includes(firstKey));
  const { text: unreadable } = await asAdmin('/new/gsma', { ...typed, name: 'aps-far', config: '{' });
  assert.match(unreadable, /id="config-error"/);
});
