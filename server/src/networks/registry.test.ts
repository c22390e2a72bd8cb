import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Connector } from './contract.ts';
import { ScriptedNetwork } from './scripted-network.corpus.ts';
import { callbackName, createNetworkRegistry } from './registry.ts';

const testWave = new ScriptedNetwork('wave');
const testAps = new ScriptedNetwork('aps');
const liveWave = new ScriptedNetwork('wave', { testMode: false });
const registry = createNetworkRegistry([testWave, testAps, liveWave]);

test('each environment sees its own networks, in the order in which payers see them', () => {
  const capabilitiesOf = (connectors: readonly Connector[]) => connectors.map(({ capabilities }) => capabilities);
  assert.deepEqual(capabilitiesOf(registry.list(true)), capabilitiesOf([testWave, testAps]));
  assert.deepEqual(capabilitiesOf(registry.list(false)), capabilitiesOf([liveWave]));
  assert.equal(registry.find('wave', true)?.capabilities, testWave.capabilities);
  assert.equal(registry.find('wave', false)?.capabilities, liveWave.capabilities);
  assert.equal(registry.find('aps', false), undefined);
});

test('the callback URL names the network and its environment', () => {
  for (const connector of [testWave, testAps, liveWave]) {
    assert.equal(registry.findByCallbackName(callbackName(connector))?.capabilities, connector.capabilities);
  }
  assert.notEqual(callbackName(testWave), callbackName(liveWave));
});

test('a name that is a property of Object finds no network', () => {
  for (const name of ['', 'Wave', 'wave-test-test', 'constructor', '__proto__', 'toString']) {
    assert.equal(registry.findByCallbackName(name), undefined, name);
    assert.equal(registry.find(name, true), undefined, name);
  }
  assert.equal(registry.find('wave-test', false), undefined, 'a live merchant never reaches a simulated network');
});
