import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../api/app-error.ts';
import { StreamLimits } from './stream-limits.ts';

const refuses = (limits: StreamLimits, accountId: string, address: string, status: number): void =>
  assert.throws(
    () => limits.take({ accountId, address }),
    (error) => error instanceof AppError && error.statusCode === status && error.retryAfterSeconds === 30,
  );

test('a login has eight streams wherever it is, and each that ends makes room for one', () => {
  const limits = new StreamLimits();
  const ends = Array.from({ length: 8 }, (_, index) => limits.take({ accountId: 'awa', address: `192.0.2.${index}` }));
  refuses(limits, 'awa', '198.51.100.1', 429);
  limits.take({ accountId: 'lamin', address: '192.0.2.1' });
  ends[3]?.();
  ends[3]?.();
  limits.take({ accountId: 'awa', address: '198.51.100.1' });
  refuses(limits, 'awa', '198.51.100.1', 429);
});

test('an address has a hundred streams, also with many logins and addresses of one IPv6 network', () => {
  const limits = new StreamLimits();
  for (let count = 0; count < 100; count += 1) {
    limits.take({ accountId: `${count}`, address: `2001:db8::${count.toString(16)}` });
  }
  refuses(limits, 'one more', '2001:db8::ffff', 429);
  limits.take({ accountId: 'one more', address: '2001:db8:1::1' });
});

test('beyond three hundred, a process asks to try again soon', () => {
  const limits = new StreamLimits();
  for (let count = 0; count < 300; count += 1) {
    limits.take({ accountId: `${count}`, address: `192.0.2.${count % 100}` });
  }
  refuses(limits, 'one more', '198.51.100.1', 503);
});
