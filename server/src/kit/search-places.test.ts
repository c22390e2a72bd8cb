import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bulkResendLimits, SearchPlaces } from './search-places.ts';

test('bulk resends have two places, one a merchant, and give them back when they end', async () => {
  const places = new SearchPlaces(bulkResendLimits);
  const mayEnd = Promise.withResolvers<void>();
  const hold = (merchantId: string) => places.search(merchantId, () => mayEnd.promise);
  const held = [hold('one')];
  await assert.rejects(hold('one'), { code: 'rate_limited' });
  held.push(hold('two'));
  await assert.rejects(hold('three'), { code: 'rate_limited', message: bulkResendLimits.full });
  mayEnd.resolve();
  await Promise.all(held);
  await hold('one');
});
