import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readUsage } from './command-usage.ts';

test('A usage line gives each option its kind, and requires those outside of brackets', () => {
  const { options } = readUsage(
    "<file> --to <a folder> --text '<message>' --role owner|member [--at <time>|now] [--event <kind>]... [--header <header>]… [--user-credential-2 <text>] [--yes]",
  );
  assert.deepEqual(Object.fromEntries(options), {
    to: { kind: 'value', required: true },
    text: { kind: 'value', required: true },
    role: { kind: 'value', required: true },
    at: { kind: 'value', required: false },
    event: { kind: 'list', required: false },
    header: { kind: 'list', required: false },
    'user-credential-2': { kind: 'value', required: false },
    yes: { kind: 'flag', required: false },
  });
});

test('Neither of two alternatives is required, and an option in nested brackets is not either', () => {
  const { options } = readUsage(
    '(--merchant <merchant id> | --default) [--for payment|transfer [--percent <percent>]]',
  );
  assert.deepEqual(Object.fromEntries(options), {
    merchant: { kind: 'value', required: false },
    default: { kind: 'flag', required: false },
    for: { kind: 'value', required: false },
    percent: { kind: 'value', required: false },
  });
});

test('Words in angle brackets are arguments unless an option precedes them; other words only explain', () => {
  const counts = (usage: string) => {
    const { positionalsMin, positionalsMax } = readUsage(usage);
    return [positionalsMin, positionalsMax];
  };
  assert.deepEqual(counts(''), [0, 0]);
  assert.deepEqual(counts('<largest|daily> --merchant <merchant id>'), [1, 1]);
  assert.deepEqual(counts('<file> [<name>] [--csv] [options of the kind]'), [1, 2]);
});
