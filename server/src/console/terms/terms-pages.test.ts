import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openConsoleWorld, type ConsoleWorld, type SignedInOperator } from '../../../../test/harness/console-world.ts';
import { findMerchantById } from '../../merchants/manage-keys.ts';
import { findReserves, findRules } from '../../merchants/manage-rules.ts';
import { findFeeRule } from '../../merchants/rules.ts';

let world: ConsoleWorld;
let support: SignedInOperator;
let admin: SignedInOperator;

before(async () => {
  world = await openConsoleWorld();
  support = await world.signInOperator('support');
  admin = await world.signInOperator('admin');
});
after(() => world.stop());

/** With a second factor; each code counts once, so each form is another admin's. */
async function asAdmin(path: string, fields: Readonly<Record<string, string>>): Promise<Response> {
  const other = await world.signInOperator('admin');
  return other.submit(path, { ...fields, second_factor: other.code() });
}

test('fees for one network and defaults are set as by command; limits of a default cannot be none', async () => {
  const { db } = world.dashboard.service;
  const merchantId = world.dashboard.business.test.merchant.id;
  const wave = `/operator/businesses/${world.businessId}/transfer-fees?environment=test&network=wave`;
  assert.equal((await asAdmin(wave, { percent: '2', fixed: '', minimum: '', maximum: '' })).status, 303);
  assert.equal((await asAdmin('/operator/defaults/transfer-fees', { percent: '', fixed: '3' })).status, 303);
  const rules = await findRules(db, { merchantId });
  assert.equal(findFeeRule(rules, 'transfer', 'wave')?.rule.percentHundredths, 200n);
  assert.equal(findFeeRule(rules, 'transfer', 'aps')?.rule.fixedMinor, 300n);
  assert.match(await (await support.get('/operator/defaults')).text(), /<dt>Transfers<\/dt><dd>D3\.00<\/dd>/);
  assert.equal(
    (await asAdmin('/operator/defaults/transfer-fees', { percent: '', fixed: '3', default: 'true' })).status,
    303,
  );
  assert.equal((await asAdmin('/operator/defaults/limits', { largest: 'none', daily: '' })).status, 400);
  assert.equal((await asAdmin('/operator/defaults/limits', { largest: '50,000', daily: '' })).status, 303);
  assert.equal((await asAdmin('/operator/defaults/limits', { largest: '', daily: '' })).status, 303);
  const reserve = { percent: '10', hours: '72', new_for_days: '30' };
  assert.equal((await asAdmin('/operator/defaults/settlement', reserve)).status, 303);
  const { fallback } = await findReserves(db, 'default');
  assert.deepEqual(fallback, { percentHundredths: 1_000n, hours: 72n, newForDays: 30n });
  assert.equal((await asAdmin('/operator/defaults/settlement', { ...reserve, default: 'true' })).status, 303);
});

test('who pays fees, or when sub-accounts are paid, changes and makes no own rule of the default', async () => {
  const { db } = world.dashboard.service;
  const { id } = world.dashboard.business.live.merchant;
  const path = `/operator/businesses/${world.businessId}`;
  const own = async () => {
    const rules = await findRules(db, { merchantId: id });
    return [
      rules.own.fees.filter(({ operation }) => operation === 'collection'),
      (await findReserves(db, { merchantId: id })).own,
    ];
  };
  const fee = { percent: '1.5', fixed: '', minimum: '', maximum: '' };
  const reserve = { percent: '10', hours: '72', new_for_days: '' };
  assert.equal((await asAdmin('/operator/defaults/fees', fee)).status, 303);
  assert.equal((await asAdmin('/operator/defaults/settlement', reserve)).status, 303);
  assert.equal((await asAdmin(`${path}/fees`, { ...fee, payer: 'customer' })).status, 303);
  assert.equal((await asAdmin(`${path}/settlement`, { ...reserve, schedule: 'weekly' })).status, 303);
  assert.equal((await findMerchantById(db, id))?.collectionFee.payer, 'customer');
  assert.deepEqual(await own(), [[], null]);
});

test('a limit of 0 is shown as 0, stays when another one changes, and is logged as 0', async () => {
  const { db } = world.dashboard.service;
  const { id } = world.dashboard.business.live.merchant;
  const path = `/operator/businesses/${world.businessId}/limits`;
  const stored = async () =>
    (await findRules(db, { merchantId: id })).own.limits.toSorted((one, other) => other.kind.localeCompare(one.kind));
  const largest = { kind: 'largest', amountMinor: 0n };
  assert.equal((await asAdmin(path, { largest: '0', daily: '' })).status, 303);
  assert.deepEqual(await stored(), [largest]);
  const form = await (await admin.get(path)).text();
  const shown = /name="largest"[^]*?value="([^"]*)"/.exec(form)?.[1] ?? 'nothing';
  assert.equal((await asAdmin(path, { largest: shown, daily: '500' })).status, 303);
  assert.deepEqual(await stored(), [largest, { kind: 'daily', amountMinor: 50_000n }]);
  const log = await (await support.get(`/operator/audit?business=${world.businessId}`)).text();
  assert.match(log, /Largest: (nothing → )?0\.00|Largest: 0\b/);
});

test('rate limits of a merchant and of one page hold until they are emptied', async () => {
  const { db } = world.dashboard.service;
  const { id } = world.dashboard.business.live.merchant;
  const path = `/operator/businesses/${world.businessId}`;
  const limits = { requests: '300', 'key-percent': '50', pages: 'none' };
  const more = async (address: string, fields: Record<string, string>): Promise<number> =>
    (await asAdmin(address, fields)).status;
  assert.equal(await more(`${path}/rate-limits`, { ...limits, requests: '0' }), 400);
  assert.equal(await more(`${path}/rate-limits`, limits), 303);
  const merchant = await findMerchantById(db, id);
  assert.deepEqual(
    [merchant?.rateLimitPerSecond, merchant?.rateLimitKeyPercent, merchant?.rateLimitPages],
    [300n, 50n, 0n],
  );
  assert.equal(await more(`${path}/rate-limits`, { requests: '', 'key-percent': '', pages: '' }), 303);
  assert.equal((await findMerchantById(db, id))?.rateLimitPerSecond, null);
  const link = await world.dashboard.api.post('/v1/payment-links', { data: { title: 'Ticket sale' } });
  const ofLink = { kind: 'link', page: String(link.body['id']), pages: '200' };
  assert.equal(await more(`${path}/page-rate-limits`, ofLink), 404, 'the link is of the test environment');
  assert.equal(await more(`${path}/page-rate-limits?environment=test`, ofLink), 303);
  assert.match(await (await support.get(path)).text(), /Ticket sale.*: 200 payments a second/);
});
