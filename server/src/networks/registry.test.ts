import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Connector } from './contract.ts';
import { ScriptedNetwork } from './scripted-network.corpus.ts';
import { createNetworkRegistry, findCollecting } from './registry.ts';

const shop = { id: 'shop', testMode: true };
const liveShop = { id: 'live shop', testMode: false };
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
  assert.deepEqual(accountsOf(networks.collecting({ id: 'another', testMode: false })), ['wave-main']);
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

test('connectors are replaced while the registry is in use', () => {
  const networks = createNetworkRegistry([testWave]);
  networks.replace([testWave, liveWave]);
  assert.deepEqual(accountsOf(networks.collecting(liveShop)), ['wave-main']);
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
