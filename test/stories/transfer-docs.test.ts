import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { curlLines, runCurlLine, withoutChance } from '../harness/curl-lines.ts';
import { startTransferStory } from '../harness/transfer-story.ts';
import type { TransferStory } from '../harness/transfer-story.ts';

// What docs/transfers.md tells a merchant to type is typed here, and answers what the page says.

const page = readFileSync(join(import.meta.dirname, '../../docs/transfers.md'), 'utf8');

let story: TransferStory;

before(async () => {
  story = await startTransferStory();
});
after(() => story.stop());

test('every curl line of the page on transfers works, and answers what the page says', async () => {
  const lines = curlLines(page);
  assert.equal(lines.length, 7);
  const variables = { KEY: story.merchant.key, ID: '' };
  for (const { command, answer: shown } of lines) {
    const isCancel = command.includes('/cancel');
    const waiting = isCancel ? await story.transferSettled('7000010') : '';
    const answer = await runCurlLine(story.service.url, command, isCancel ? { ...variables, ID: waiting } : variables);
    assert.ok(answer.status < 300, `${command} answers ${answer.text}`);
    if (shown !== null) assert.deepEqual(withoutChance(answer.body), withoutChance(shown), command);
    if (isCancel) assert.equal(answer.body['status'], 'cancelled');
    if (command.includes('?status=')) assert.equal((answer.body['data'] as unknown[]).length, 1);
    if (command.includes('/v1/transfers -H') && answer.status === 201) variables.ID = String(answer.body['id']);
    await story.settle();
  }
  assert.notEqual(variables.ID, '');
});

test('the table of fields has every field of a transfer, and each field of the answer is shown', () => {
  const create = story.contract.operations.find(({ operationId }) => operationId === 'createTransfer');
  const table = page.split('| Field | |')[1]?.split('\n\n')[0] ?? '';
  const named = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name ?? '');
  assert.deepEqual(named.toSorted(), Object.keys(create?.body?.properties ?? {}).toSorted());
});
