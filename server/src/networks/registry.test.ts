import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Connector } from './contract.ts';
import { ScriptedNetwork } from './scripted-network.corpus.ts';
import {
  createNetworkRegistry,
  defaultRank,
  findCollecting,
  refuseWithoutNetwork,
  type NetworkUser,
} from './registry.ts';

const shop = { id: 'shop', testMode: true, liveApprovedAt: null };
const liveShop: NetworkUser = { id: 'live shop', testMode: false, liveApprovedAt: new Date(0) };
const testWave = new ScriptedNetwork('wave');
const testAps = new ScriptedNetwork('aps');
const liveWave = new ScriptedNetwork('wave', { testMode: false, railAccount: 'wave-main' });
const registry = createNetworkRegistry([testAps, testWave, liveWave]);

const accountsOf = (connectors: readonly Connector[]) => connectors.map(({ capabilities }) => capabilities.railAccount);

test('each environment sees its own networks, in the order in which payers see them', () => {
  assert.deepEqual(accountsOf(registry.collecting(shop)), ['rail-wave', 'rail-aps']);
  assert.deepEqual(accountsOf(registry.payingOut(shop)), ['rail-wave', 'rail-aps']);
  assert.deepEqual(accountsOf(registry.collecting(liveShop)), ['wave-main']);
});

test('a merchant’s own account goes before the operator’s, and serves nobody else', () => {
  const own = new ScriptedNetwork('wave', { testMode: false, railAccount: 'own-wave', merchantId: liveShop.id });
  const networks = createNetworkRegistry([liveWave, own]);
  assert.deepEqual(accountsOf(networks.collecting(liveShop)), ['own-wave']);
  assert.deepEqual(accountsOf(networks.payingOut(liveShop)), ['own-wave']);
  assert.deepEqual(accountsOf(networks.collecting({ ...liveShop, id: 'another' })), ['wave-main']);
});

test('a network may collect through one account and pay out through another', () => {
  const collector = Object.assign(new ScriptedNetwork('qmoney', { railAccount: 'aggregator' }), { payouts: null });
  const payer = Object.assign(new ScriptedNetwork('qmoney', { railAccount: 'direct' }), { collections: null });
  const networks = createNetworkRegistry([collector, payer]);
  assert.deepEqual(accountsOf(networks.collecting(shop)), ['aggregator']);
  assert.deepEqual(accountsOf(networks.payingOut(shop)), ['direct']);
  const charge = { network: 'qmoney', railAccount: 'direct' };
  assert.equal(findCollecting(networks, shop, charge), undefined, 'what only pays out collects nothing');
});

test('a charge without an account is its network’s, and one with an account keeps it', () => {
  const named = findCollecting(registry, shop, { network: 'wave', railAccount: 'rail-wave' });
  assert.equal(named?.capabilities, testWave.capabilities);
  assert.equal(
    findCollecting(registry, shop, { network: 'aps', railAccount: null })?.capabilities,
    testAps.capabilities,
  );
  assert.equal(findCollecting(registry, shop, { network: 'aps', railAccount: 'rail-wave' }), undefined);
});

test('accounts are replaced while the registry is in use, and its own connectors stay', () => {
  const networks = createNetworkRegistry([testWave]);
  networks.replace([{ connector: liveWave, rank: 1, isDisabled: false }]);
  assert.deepEqual(accountsOf(networks.collecting(liveShop)), ['wave-main']);
  networks.replace([]);
  assert.deepEqual(accountsOf(networks.collecting(liveShop)), []);
  assert.deepEqual(accountsOf(networks.collecting(shop)), ['rail-wave']);
});

const account = (railAccount: string, more: { source?: 'api' | 'receipts'; isOwn?: boolean; rank?: number } = {}) => {
  const merchantId = more.isOwn === true ? liveShop.id : null;
  const connector = new ScriptedNetwork('wave', { testMode: false, railAccount, merchantId });
  return { connector, rank: more.rank ?? defaultRank(more.source ?? 'api', merchantId), isDisabled: false };
};

test('an API goes before receipts, an own account before the operator’s, unless ordered otherwise', () => {
  const networks = createNetworkRegistry([]);
  const till = account('own-till', { source: 'receipts', isOwn: true });
  const platform = account('wave-main');
  const own = account('own-wave', { isOwn: true });
  const first = (accounts: ReturnType<typeof account>[]) => {
    networks.replace(accounts);
    return accountsOf(networks.collecting(liveShop));
  };
  assert.deepEqual(first([till, platform, own]), ['own-wave']);
  assert.deepEqual(first([till, platform]), ['wave-main']);
  assert.deepEqual(first([till]), ['own-till']);
  assert.deepEqual(first([{ ...till, rank: 1 }, platform, own]), ['own-till']);
});

test('a disabled account takes nothing new, and still finishes what names it', () => {
  const networks = createNetworkRegistry([]);
  networks.replace([{ ...account('wave-main'), isDisabled: true }]);
  assert.deepEqual(accountsOf(networks.collecting(liveShop)), []);
  assert.deepEqual(accountsOf(networks.payingOut(liveShop)), []);
  assert.ok(findCollecting(networks, liveShop, { network: 'wave', railAccount: 'wave-main' }));
  assert.ok(networks.findByAccount('wave-main'));
});

test('payouts to a network are paused while every account of it that pays out is disabled', () => {
  const networks = createNetworkRegistry([]);
  const [one, other] = [account('wave-main'), account('own-wave', { isOwn: true })];
  networks.replace([{ ...one, isDisabled: true }, other]);
  assert.deepEqual(networks.pausedPayouts(liveShop), []);
  networks.replace([one, other].map((each) => ({ ...each, isDisabled: true })));
  assert.deepEqual(networks.pausedPayouts(liveShop), ['wave']);
  assert.deepEqual(networks.pausedPayouts(shop), []);
  const collector = Object.assign(new ScriptedNetwork('aps', { testMode: false }), { payouts: null });
  networks.replace([{ connector: collector, rank: 1, isDisabled: true }]);
  assert.deepEqual(networks.pausedPayouts(liveShop), []);
});

test('the refusal without a network says why there is none', () => {
  const networks = createNetworkRegistry([]);
  const refusal = (merchant = liveShop): string => {
    try {
      refuseWithoutNetwork(networks, merchant);
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.match(refusal(), /^No live network is connected to this server yet\. .*, or use a test key meanwhile\.$/);
  networks.replace([{ ...account('own-wave', { isOwn: true }) }]);
  assert.match(refusal({ ...liveShop, id: 'another' }), /^No live network is connected for this business yet/);
  assert.match(refusal({ ...liveShop, liveApprovedAt: null }), /not approved for live payments/);
  assert.equal(refusal(), '');
  networks.replace([{ ...account('own-wave', { isOwn: true }), isDisabled: true }]);
  assert.match(refusal(), /has disabled every live network/);
});

test('the callback URL names the account', () => {
  for (const { capabilities } of [testWave, testAps, liveWave]) {
    assert.equal(registry.findByAccount(capabilities.railAccount)?.capabilities, capabilities);
  }
});

test('a name that is a property of Object finds no account', () => {
  for (const railAccount of ['', 'Wave', 'wave-test-test', 'constructor', '__proto__', 'toString']) {
    assert.equal(registry.findByAccount(railAccount), undefined, railAccount);
    assert.equal(registry.find({ railAccount, network: 'wave' }), undefined, railAccount);
  }
});
