import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GsmaConfiguration } from './configuration.ts';
import { meaningOf } from './errors.ts';

test('a code that is neither documented nor configured is unknown, also one that every object has', () => {
  const configuration = { errors: { walletClosed: 'account_blocked' } } as unknown as GsmaConfiguration;
  const meanings = ['walletClosed', 'constructor', 'toString', 'valueOf', 'hasOwnProperty', 'somethingNew'].map(
    (code) => {
      const error = { category: 'businessRule', code, description: null } as const;
      const meaning = meaningOf(error, { configuration, payer: 'us', stage: 'request' });
      return meaning.kind === 'refused' ? meaning.code : meaning.kind;
    },
  );
  assert.deepEqual(meanings, ['account_blocked', 'unknown', 'unknown', 'unknown', 'unknown', 'unknown']);
});
