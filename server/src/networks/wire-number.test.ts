import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wireNumber } from './wire-number.ts';

test('a number has the form that its network wants, and foreign ones keep their country code', () => {
  const migrated = '+220877012345';
  assert.equal(wireNumber(migrated, { prefix: '+220', digits: 'new' }), '+220877012345');
  assert.equal(wireNumber(migrated, { prefix: '220', digits: 'old' }), '2207012345');
  assert.equal(wireNumber(migrated, { prefix: '', digits: 'old' }), '7012345');
  assert.equal(wireNumber('+2209123456', { prefix: '220', digits: 'new' }), '2209123456');
  assert.equal(wireNumber('+221701234567', { prefix: '220', digits: 'old' }), '221701234567');
});
