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

test('what an API key has emptied stands in its entry, whose earlier value is not known', () => {
  assert.deepEqual(maskedChanges({ url: null, enabled_events: null, description: 'Till' }, 'unknown'), [
    { field: 'url', before: null, after: null },
    { field: 'enabled_events', before: null, after: null },
    { field: 'description', before: null, after: 'Till' },
  ]);
});

test('where a sub-account’s money goes is no secret: the network and the end of the number', () => {
  const sent = { settlement_code: 'aps', account_number: '7001234', code: '123456' };
  assert.deepEqual(
    maskedChanges(sent, { settlement_code: 'wave' }).map(({ before, after }) => [before, after]),
    [
      ['wave', 'aps'],
      [null, '.... 1234'],
      [null, '••••'],
    ],
  );
});

test('a number or mail address that ends as the earlier one did is a change', () => {
  const sent = { account_number: '3012345', email: 'binta@example.gm', name: 'Awa' };
  assert.deepEqual(maskedChanges(sent, { account_number: '7012345', email: 'awa@example.gm', name: 'Awa' }), [
    { field: 'account_number', before: '.... 2345', after: '.... 2345' },
    { field: 'email', before: '••••@example.gm', after: '••••@example.gm' },
  ]);
});

test('what a list or metadata no longer holds is a change, and a field that was not sent is none', () => {
  const before = {
    data: { title: 'Fees', amount: 450 },
    members: [
      { sub_account: 'one', percentage: 20 },
      { sub_account: 'two', percentage: 30 },
    ],
    chat_numbers: ['7012345', '3001234'],
    custom_fields: ['Class'],
    metadata: { term: 2, note: 'x' },
  };
  const sent = {
    data: { title: 'Fees' },
    members: [before.members[0]],
    ...{ chat_numbers: [], custom_fields: null, metadata: { term: 2 } },
  };
  assert.deepEqual(maskedChanges(sent, before), [
    { field: 'members.1.sub_account', before: 'two', after: null },
    { field: 'members.1.percentage', before: '30', after: null },
    { field: 'chat_numbers.0', before: '.... 2345', after: null },
    { field: 'chat_numbers.1', before: '.... 1234', after: null },
    { field: 'custom_fields.0', before: 'Class', after: null },
    { field: 'metadata.note', before: 'x', after: null },
  ]);
});

test('numbers and mails that somebody searched for are no more readable than others, and names stay', () => {
  const shown = (term: string) => maskedChanges({ term })[0]?.after;
  assert.deepEqual(['+220 701 2345', '7012345', 'awa@example.gm', 'Awa Ceesay', '450'].map(shown), [
    ...['.... 2345', '.... 2345', '••••@example.gm', 'Awa Ceesay', '450'],
  ]);
});
