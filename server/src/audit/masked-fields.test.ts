import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maskedChanges } from './masked-fields.ts';

test('the audit log shows what changed, without secrets, and of numbers and mails what identifies nobody', () => {
  const sent = {
    name: 'Rent',
    data: { amount: 450, title: null },
    account_number: '7001234',
    customer_email: 'awa@example.gm',
    webhook_secret: 'whsec_abc',
    members: [{ sub_account: 'one', percentage: 20 }],
  };
  const changes = maskedChanges(sent, { name: 'Lease', data: { amount: 450 } });
  assert.deepEqual(changes, [
    { field: 'name', before: 'Lease', after: 'Rent' },
    { field: 'account_number', before: null, after: '.... 1234' },
    { field: 'customer_email', before: null, after: '••••@example.gm' },
    { field: 'webhook_secret', before: null, after: '••••' },
    { field: 'members.0.sub_account', before: null, after: 'one' },
    { field: 'members.0.percentage', before: null, after: '20' },
  ]);
  assert.ok(!JSON.stringify(changes).includes('abc'));
});

test('numbers and mails that somebody searched for are no more readable than others, and names stay', () => {
  const shown = (term: string) => maskedChanges({ term })[0]?.after;
  assert.deepEqual(['+220 701 2345', '7012345', 'awa@example.gm', 'Awa Ceesay', '450'].map(shown), [
    ...['.... 2345', '.... 2345', '••••@example.gm', 'Awa Ceesay', '450'],
  ]);
});
