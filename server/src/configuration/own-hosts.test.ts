import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { describe, it } from 'node:test';
import { readConfig } from './config.ts';
import { assertUrlAllowed } from '../kit/outbound-guard.ts';
import { ownHosts, urlPolicyOf } from './own-hosts.ts';

const key = 'ab'.repeat(32);

function hosts(settings: Record<string, string>) {
  return ownHosts(readConfig({ APP_ENV: 'production', SEAL_KEY: key, KEY_PEPPER: key, ...settings }));
}

describe('hosts that merchants must not make a production server call', () => {
  it('are its own addresses, its public name and where its database is', () => {
    const { refusedAddresses, refusedNames } = hosts({
      PUBLIC_URL: 'https://Pay.Example.gm./',
      INTERNAL_URL: 'http://api.prod.example.gm:8080',
      DATABASE_URL: 'postgres://owner:secret@db.example.gm:5432/dalasi',
      APP_DATABASE_URL: 'postgres://app:secret@8.8.4.4/dalasi',
    });
    assert.deepEqual(refusedNames, ['pay.example.gm', 'api.prod.example.gm', 'db.example.gm']);
    const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address));
    assert.deepEqual(refusedAddresses, [...own, '8.8.4.4']);
  });

  it('are found in every form of a database URL', () => {
    const [PUBLIC_URL, common] = ['https://[2606:4700::1]', { SEAL_KEY: key }];
    const cases: [string, string[], string[]][] = [
      ['postgres://owner@[2606:4700::2]:5432/dalasi', [], ['2606:4700::1', '2606:4700::2']],
      ['postgresql://owner@localhost/dalasi?host=/run/postgresql', ['localhost'], ['2606:4700::1']],
      ['postgresql:///dalasi?host=db.example.gm&user=owner', ['db.example.gm'], ['2606:4700::1']],
    ];
    for (const [DATABASE_URL, names, addresses] of cases) {
      const { refusedAddresses, refusedNames } = hosts({ ...common, PUBLIC_URL, DATABASE_URL });
      assert.deepEqual(refusedNames, names, DATABASE_URL);
      for (const address of addresses) assert.ok(refusedAddresses.includes(address), `${DATABASE_URL} ${address}`);
    }
  });

  it('are refused in URLs of merchants, test and live', () => {
    const [APP_ENV, PUBLIC_URL] = ['production', 'https://pay.example.gm'];
    const policyOf = urlPolicyOf(readConfig({ APP_ENV, SEAL_KEY: key, KEY_PEPPER: key, PUBLIC_URL }));
    for (const testMode of [true, false]) {
      assert.throws(() => assertUrlAllowed('https://pay.example.gm/hook', policyOf(testMode)), { reason: 'name' });
      assert.equal(assertUrlAllowed('https://shop.example.gm/hook', policyOf(testMode)).hostname, 'shop.example.gm');
    }
    assert.deepEqual([policyOf(true).httpsOnly, policyOf(false).httpsOnly], [false, true]);
  });

  it('are none on a development server', () => {
    assert.deepEqual(hosts({ APP_ENV: 'development' }), { refusedAddresses: [], refusedNames: [] });
  });
});
