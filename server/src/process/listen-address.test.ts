import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listensOnAllAddresses, sendsKeysInTheClear } from './listen-address.ts';

test('only a production server with an http:// PUBLIC_URL gets the warning', () => {
  const isWarned = (production: boolean, publicUrl: string | null) => sendsKeysInTheClear({ production, publicUrl });
  assert.equal(isWarned(true, 'http://pay.example.gm'), true);
  assert.equal(isWarned(true, 'https://pay.example.gm'), false);
  assert.equal(isWarned(false, 'http://192.168.1.20:8080'), false);
  assert.equal(isWarned(false, null), false);
});

test('0.0.0.0 and :: mean all addresses, any other host means one', () => {
  const hosts = ['0.0.0.0', '::', '127.0.0.1', '10.0.0.5', '::1'];
  assert.deepEqual(
    hosts.filter((host) => listensOnAllAddresses({ host })),
    ['0.0.0.0', '::'],
  );
});
