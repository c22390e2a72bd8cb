import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertUrlAllowed, isAddressAllowed, UrlNotAllowedError, type OutboundPolicy } from './outbound-guard.ts';
import { forbiddenHosts, forbiddenAddresses, localNames, metadataNames } from './outbound-vectors.corpus.ts';

const production = { allowPrivate: false, httpsOnly: false };
const live = { allowPrivate: false, httpsOnly: true };
const development = { allowPrivate: true, httpsOnly: false };

function refusal(url: string, policy: OutboundPolicy): string {
  try {
    assertUrlAllowed(url, policy);
    return 'allowed';
  } catch (error) {
    assert.ok(error instanceof UrlNotAllowedError, String(error));
    assert.match(error.message, /^[A-Z].*\.$/);
    return error.reason;
  }
}

describe('the outbound guard on a production server', () => {
  it('refuses every spelling of a private or reserved address', () => {
    assert.ok(forbiddenHosts.length >= 80);
    for (const host of forbiddenHosts) {
      for (const url of [`http://${host}/`, `https://${host}:8443/hook?a=b#c`]) {
        assert.equal(refusal(url, production), 'address', url);
      }
    }
  });

  it('refuses names that mean this machine, its network or the metadata of its cloud', () => {
    for (const name of [...localNames, ...metadataNames]) {
      assert.equal(refusal(`https://${name}/hook`, production), 'name', name);
    }
  });

  it('accepts public addresses and names, also names that do not resolve', () => {
    const hosts = [
      ...['shop.gm', 'shop.example', 'example.com.', 'xn--bcher-kva.example', 'bücher.example', 'a-1.b.c.d.example'],
      ...['8.8.8.8', '134209032', '11.0.0.1', '172.15.255.255', '172.32.0.1', '100.63.255.255', '100.128.0.1'],
      ...['169.253.1.1', '192.167.1.1', '126.255.255.255', '128.0.0.1', '223.255.255.255', '[2606:4700::1111]'],
      ...['[2001:4860:4860::8888]', 'localhost.example.com', 'internal.example.com', '127.0.0.1.example.com'],
    ];
    for (const host of hosts) assert.equal(refusal(`https://${host}/hook`, production), 'allowed', host);
  });

  it('refuses what is not a plain web address', () => {
    const cases: [string, string][] = [
      ['', 'malformed'],
      ['shop.example/hook', 'malformed'],
      ['//shop.example/hook', 'malformed'],
      ['https://', 'malformed'],
      ['https://shop .example/', 'malformed'],
      ['https://shop\n.example/', 'malformed'],
      ['\thttps://shop.example/', 'malformed'],
      ['https://shop.example/hook\u0000', 'malformed'],
      ['https:\\\\shop.example\\hook', 'malformed'],
      ['https://shop.example\\@127.0.0.1/', 'malformed'],
      ['https://999.1.1.1/', 'malformed'],
      ['https://[::1/', 'malformed'],
      ['https://[fe80::1%25eth0]/', 'malformed'],
      ['https://shop.example:99999/', 'malformed'],
      ['https://user@shop.example/', 'credentials'],
      ['https://user:password@shop.example/', 'credentials'],
      ['https://:password@shop.example/', 'credentials'],
      ['ftp://shop.example/', 'scheme'],
      ['ws://shop.example/', 'scheme'],
      ['gopher://shop.example/', 'scheme'],
      ['file:///etc/passwd', 'malformed'],
      ['javascript:alert(1)', 'malformed'],
      ['data:text/html,hello', 'malformed'],
      ['shop://done', 'scheme'],
    ];
    for (const [url, reason] of cases) assert.equal(refusal(url, production), reason, JSON.stringify(url));
  });

  it('names the private host before the port, which would not help', () => {
    assert.equal(refusal('https://localhost:3000/', production), 'name');
    assert.equal(refusal('https://127.0.0.1:0/', production), 'address');
  });

  it('allows the ports of web servers only', () => {
    for (const port of ['80', '443', '8080', '8443']) {
      assert.equal(refusal(`http://shop.example:${port}/`, production), 'allowed', port);
    }
    for (const port of ['0', '1', '22', '25', '81', '3306', '5432', '6379', '8081', '9200', '65535']) {
      assert.equal(refusal(`https://shop.example:${port}/`, production), 'port', port);
    }
  });

  it('allows every port but 0 on a development server, and says so', () => {
    for (const port of ['1', '3000', '65535'])
      assert.equal(refusal(`http://shop.example:${port}/`, development), 'allowed');
    assert.throws(() => assertUrlAllowed('http://shop.example:0/', development), /must not use port 0/);
  });

  it('takes 2,048 characters and not one more', () => {
    const url = (length: number) => 'https://shop.example/'.padEnd(length, 'a');
    assert.equal(refusal(url(2_048), production), 'allowed');
    assert.equal(refusal(url(2_049), production), 'too_long');
  });

  it('wants https from live merchants', () => {
    assert.equal(refusal('http://shop.example/', live), 'scheme');
    assert.equal(refusal('https://shop.example/', live), 'allowed');
    assert.equal(refusal('http://shop.example/', production), 'allowed');
  });

  it('refuses the addresses the operator names: its own and the database', () => {
    const policy = { ...production, refusedAddresses: ['8.8.4.4', '9.9.9.0/24', '2606:4700::/32'] };
    for (const host of ['8.8.4.4', '9.9.9.7', '[2606:4700::1111]']) {
      assert.equal(refusal(`https://${host}/`, policy), 'address', host);
    }
    assert.equal(refusal('https://8.8.8.8/', policy), 'allowed');
  });

  it('refuses the names the operator’s own services have, however they are written', () => {
    const policy = { ...production, refusedNames: ['pay.example.gm', 'db.example.gm'] };
    for (const name of ['pay.example.gm', 'PAY.example.gm', 'pay.example.gm.', 'ｐａｙ.example。gm', 'db.example.gm']) {
      assert.equal(refusal(`https://${name}/v1/payments`, policy), 'name', name);
    }
    for (const name of ['shop.pay.example.gm', 'example.gm', 'xpay.example.gm']) {
      assert.equal(refusal(`https://${name}/`, policy), 'allowed', name);
    }
  });

  it('allows no connection to what is not an address or belongs to a local link', () => {
    for (const address of ['', 'shop.example', '0x7f.1', '127.1', 'fe80::1%eth0', '2606:4700::1%eth0']) {
      assert.equal(isAddressAllowed(address, production), false, address);
    }
  });
});

describe('the outbound guard on a development server', () => {
  it('may call this machine and its network, on any port', () => {
    const hosts = [
      'localhost',
      '127.0.0.1',
      '[::1]',
      '10.1.2.3',
      '192.168.1.5',
      '[fd12::1]',
      'postgres',
      'app.internal',
    ];
    for (const host of hosts) assert.equal(refusal(`http://${host}:3000/hook`, development), 'allowed', host);
  });

  it('still refuses metadata services, multicast, reserved addresses, credentials and other schemes', () => {
    for (const { spellings, development: verdict } of forbiddenAddresses) {
      const expected = verdict === 'allowed' ? 'allowed' : 'address';
      for (const host of spellings) assert.equal(refusal(`http://${host}/`, development), expected, host);
    }
    for (const name of metadataNames) assert.equal(refusal(`http://${name}/`, development), 'name', name);
    for (const name of localNames) assert.equal(refusal(`http://${name}/`, development), 'allowed', name);
    assert.equal(refusal('http://a:b@localhost/', development), 'credentials');
    assert.equal(refusal('shop://done', development), 'scheme');
    assert.equal(refusal('http://localhost:0/', development), 'port');
  });
});
