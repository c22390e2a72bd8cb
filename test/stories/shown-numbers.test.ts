import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sendForm } from '../../server/src/dashboard/patterns/form.corpus.ts';
import { openConsoleWorld, type ConsoleWorld, type SignedInOperator } from '../harness/console-world.ts';
import type { Member } from '../harness/dashboard-world.ts';
import { merchantsPages, operatorsPages } from '../harness/portal-pages.ts';
import { createPortalRecords, type PortalRecords } from '../harness/portal-records.ts';
import { pathWith, type PortalRoute } from '../harness/portal-routes.ts';
import { asOwner } from '../harness/tables.ts';

/** Of the people who pay and are paid. The last four digits of the first choose what the simulated network does. */
const numbers = {
  payers: '7000004',
  transfer: '7000010',
  subAccount: '7000001',
  customer: '7936412',
  request: '7936413',
};
const email = 'awa.ceesay@example.gm';

let world: ConsoleWorld;
let owner: Member;
let admin: SignedInOperator;
let records: PortalRecords;

before(async () => {
  world = await openConsoleWorld();
  const { dashboard } = world;
  owner = await dashboard.signIn('owner');
  records = await createPortalRecords(dashboard, dashboard.business, owner);
  const body = JSON.stringify({ phone: numbers.customer, email });
  const init = { body, headers: { 'content-type': 'application/json' } };
  assert.equal((await dashboard.api.send('PUT', `/v1/customers/${records.customerId}`, init)).status, 200);
  const change = `UPDATE transfer_requests SET body = jsonb_set(body, '{account_number}', to_jsonb($1::text))`;
  await asOwner(dashboard.service, change, [numbers.request]);
  admin = await world.signInOperator('admin');
  records.operatorId = admin.operatorId;
});
after(() => world.stop());

function addressOf(route: PortalRoute): string {
  const path = pathWith(route, records, 'test');
  if (route.realm === 'merchant') return world.dashboard.at(path);
  return `${world.dashboard.service.url}/operator${route.isOfEnvironment ? '/test' : ''}${path}`;
}

/** What of these people stands whole in a page, in any grouping of the digits. */
function wholeIn(page: string): string[] {
  const text = page.replaceAll(/<[^>]*>|&[#\w]+;/g, (tag) => (/ value="[^"]+"/.exec(tag) ?? [''])[0]);
  const digits = text.replaceAll(/(?<=\d)[\s\u00a0\u202f]+(?=\d)/g, '');
  return [...Object.values(numbers), email].filter((each) => digits.includes(each));
}

for (const { route, name } of [...merchantsPages, ...operatorsPages].filter(({ address, act }) => !address && !act)) {
  test(`${name}: a person’s number stands there with its last four digits only`, async () => {
    const response = await (route.realm === 'merchant' ? owner : admin).get(addressOf(route));
    assert.equal(response.status, 200);
    assert.deepEqual(wholeIn(await response.text()), []);
  });
}

const recordsWithNumbers = [
  { path: '/transfers/:id', id: 'transferId', type: 'transfer', whole: [numbers.transfer] },
  { path: '/transfers/requests/:id', id: 'transferRequestId', type: 'transfer_request', whole: [numbers.request] },
  { path: '/customers/:id', id: 'customerId', type: 'customer', whole: [numbers.customer, email] },
] as const;

describe('“Show number”', () => {
  for (const { path, id, type, whole } of recordsWithNumbers) {
    test(`${path}: shows owner and finance the whole number once, with an audit entry, and nobody else`, async () => {
      const { service, at, signIn } = world.dashboard;
      const url = at(path.replace(':id', records[id]));
      const entries = () =>
        asOwner<{ actor_id: string; object_type: string; object_id: string }>(
          service,
          `SELECT actor_id, object_type, object_id FROM audit_entries WHERE action = 'numbers.show' AND object_type = $1 ORDER BY id`,
          [type],
        );
      for (const role of ['owner', 'finance'] as const) {
        const member = await signIn(role);
        const shown = await sendForm(member, url, {});
        assert.equal(shown.status, 200);
        assert.deepEqual(wholeIn(shown.text), whole);
        assert.deepEqual((await entries()).at(-1), {
          ...{ actor_id: member.account.id, object_type: type, object_id: records[id] },
        });
        const again = await (await member.get(url)).text();
        assert.deepEqual(wholeIn(again), []);
        assert.doesNotMatch(again, /(?:Changed|acted on) by/, 'who looks changes nothing');
      }
      const earlier = await entries();
      const cashier = await signIn('cashier', { terminalIds: [records.terminalId] });
      assert.equal((await cashier.post(url)).status, 403);
      const role = new URL(service.database.appUrl).username;
      await service.database.asOwner(`REVOKE INSERT ON audit_entries FROM ${role}`);
      const failed = await sendForm(owner, url, {});
      await service.database.asOwner(`GRANT INSERT ON audit_entries TO ${role}`);
      assert.ok(failed.status >= 500, 'no number without its entry');
      assert.deepEqual(wholeIn(failed.text), []);
      assert.deepEqual(await entries(), earlier);
    });
  }

  test('is not there for a developer in live, whom the files with whole numbers are refused too', async () => {
    const { business, service, signIn } = world.dashboard;
    const developer = await signIn('developer');
    const live = `${service.url}/dashboard/live/${business.live.merchant.shortId}`;
    for (const path of ['/customers', '/transfers', '/sub-accounts']) {
      assert.equal((await developer.get(`${live}${path}/export/file`)).status, 403, path);
      const file = await developer.get(world.dashboard.at(`${path}/export/file`));
      assert.equal(file.status, 200, path);
      await file.text();
    }
    assert.equal((await developer.post(`${live}/customers/${records.customerId}`)).status, 403);
  });
});
