import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { forbiddenHosts } from '../../server/src/kit/outbound-vectors.corpus.ts';

// The guard of the service is off here: whatever it missed would be called. Needs root, to have a network of its own.

const fence = readFileSync(join(import.meta.dirname, '../../examples/nftables/dalasi-egress.nft'), 'utf8');
const program = join(import.meta.dirname, '../harness/fenced-calls.ts');

const publicUrls = ['http://8.8.8.8:8080/', 'http://[2606:4700::7]:8080/'];
const databaseUrl = 'http://10.0.0.7:5432/';
const allowed = ['10.0.0.7 5432', '2606:4700::7 8080', '8.8.8.8 8080'];

/** The addresses and ports that an unguarded process reached. */
function reached(rules: string): string[] {
  const urls = [...forbiddenHosts, '10.0.0.7'].map((host) => `http://${host}:8080/`).filter((url) => URL.canParse(url));
  assert.ok(urls.length > 80, String(urls.length));
  const calls = [...urls, 'http://10.0.0.8:5432/', databaseUrl, ...publicUrls];
  try {
    const command = ['--net', process.execPath, program, rules, ...calls];
    return JSON.parse(execFileSync('unshare', command, { encoding: 'utf8' })) as string[];
  } catch (cause) {
    const needs =
      'this test needs root and the programs unshare, ip and nft (Debian: apt-get install iproute2 nftables)';
    throw new Error(needs, { cause });
  }
}

test('behind the fence an unguarded process reaches the internet and its database, and no private address', () => {
  const ofNobody = fence.replace('define service_user = "dalasi"', 'define service_user = "nobody"');
  assert.notEqual(ofNobody, fence);
  assert.deepEqual(reached(ofNobody), allowed);
});

test('without the fence it reaches them, so that the test above can fail', () => {
  const addresses = new Set(reached('').map((each) => each.split(' ')[0]));
  for (const address of [
    '127.0.0.1',
    '10.0.0.1',
    '192.168.0.1',
    '169.254.169.254',
    '::1',
    'fd00:ec2::254',
    '64:ff9b::a9fe:a9fe',
  ]) {
    assert.ok(addresses.has(address), `${address} of ${[...addresses].join(', ')}`);
  }
  assert.ok(addresses.size > 40, String(addresses.size));
});
