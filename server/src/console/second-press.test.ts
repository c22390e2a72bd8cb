import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openConsoleWorld, type ConsoleWorld, type SignedInOperator } from '../../../test/harness/console-world.ts';
import { asOwner } from '../../../test/harness/tables.ts';
import { hiddenFields } from '../dashboard/patterns/form.corpus.ts';

let world: ConsoleWorld;
let support: SignedInOperator;
let finance: SignedInOperator;

before(async () => {
  world = await openConsoleWorld();
  support = await world.signInOperator('support');
  finance = await world.signInOperator('finance');
});
after(() => world.stop());

/** The fields of a form, to be sent more than once, as where a response is lost. */
async function opened(
  operator: SignedInOperator,
  path: string,
  typed: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  return { ...hiddenFields(await (await operator.get(path)).text()), ...typed };
}

async function countEntries(action: string): Promise<number> {
  return (await asOwner(world.dashboard.service, 'SELECT id FROM audit_entries WHERE action = $1', [action])).length;
}

test('a business is created once, however often its form is sent, and another name is not taken for it', async () => {
  const path = '/operator/businesses/new';
  const fields = await opened(support, path, { name: 'Bakau Bikes' });
  const taps = await Promise.all([support.post(path, fields), support.post(path, fields)]);
  taps.push(await support.post(path, fields));
  assert.deepEqual(
    taps.map(({ status, headers }) => [status, headers.get('location')]),
    taps.map(() => [303, taps[0]?.headers.get('location')]),
  );
  const created = await asOwner(world.dashboard.service, 'SELECT id FROM businesses WHERE name = $1', ['Bakau Bikes']);
  assert.deepEqual([created.length, await countEntries('businesses.create')], [1, 1]);
  const other = await support.post(path, { ...fields, name: 'Brikama Bikes' });
  assert.equal(other.status, 409);
  assert.match(await other.text(), /What it says now was not done[^]*value="Brikama Bikes"/);
});

test('terms are agreed once, and a second press of the button leads where the first one led', async () => {
  const path = `/operator/businesses/${world.businessId}/limits?environment=test`;
  const fields = await opened(finance, path, { largest: '5,000', daily: 'none' });
  const first = await finance.post(path, { ...fields, second_factor: finance.code() });
  assert.equal(first.status, 303, await first.text());
  const second = await finance.post(path, fields);
  assert.deepEqual([second.status, second.headers.get('location')], [303, first.headers.get('location')]);
  assert.equal(await countEntries('limits.set'), 1);
  const other = await finance.post(path, { ...fields, largest: '7000' });
  assert.equal(other.status, 409);
  assert.match(await other.text(), /This press did nothing[^]*Largest transfer in dalasi: 5000\.00/);
});
