import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { curlLines, runCurlLine, withoutRandomValues } from '../harness/curl-lines.ts';
import { startTransferStory, type TransferStory } from '../harness/transfer-story.ts';

// Runs the curl lines of docs/transfers.md, and compares the responses with the page.

const page = readFileSync(join(import.meta.dirname, '../../docs/transfers.md'), 'utf8');

let story: TransferStory;

before(async () => {
  story = await startTransferStory();
});
after(() => story.stop());

test('every curl line of the page on transfers works, and returns what the page shows', async () => {
  const lines = curlLines(page);
  assert.equal(lines.length, 7);
  const variables = { KEY: story.merchant.key, ID: '' };
  for (const { command, response: shown } of lines) {
    const isCancel = command.includes('/cancel');
    const waiting = isCancel ? await story.transferSettled('7000010') : '';
    const response = await runCurlLine(
      story.service.url,
      command,
      isCancel ? { ...variables, ID: waiting } : variables,
    );
    assert.ok(response.status < 300, `${command} answers ${response.text}`);
    if (shown !== null) assert.deepEqual(withoutRandomValues(response.body), withoutRandomValues(shown), command);
    if (isCancel) assert.equal(response.body['status'], 'cancelled');
    if (command.includes('?status=')) assert.equal((response.body['data'] as unknown[]).length, 1);
    if (command.includes('/v1/transfers -H') && response.status === 201) variables.ID = String(response.body['id']);
    await story.settle();
  }
  assert.notEqual(variables.ID, '');
});

test('the table of fields has every field of a transfer, and each field of the response', () => {
  const create = story.contract.operations.find(({ operationId }) => operationId === 'createTransfer');
  const table = page.split('| Field | |')[1]?.split('\n\n')[0] ?? '';
  const named = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name ?? '');
  assert.deepEqual(named.toSorted(), Object.keys(create?.body?.properties ?? {}).toSorted());
});
