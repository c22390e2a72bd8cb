import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createApiClient } from '../harness/api-client.ts';
import type { ApiAnswer } from '../harness/api-client.ts';
import { startTransferStory } from '../harness/transfer-story.ts';
import type { TransferStory } from '../harness/transfer-story.ts';

// What docs/transfers.md tells a merchant to type is typed here, and answers what the page says.

const page = readFileSync(join(import.meta.dirname, '../../docs/transfers.md'), 'utf8');

let story: TransferStory;

before(async () => {
  story = await startTransferStory();
});
after(() => story.stop());

interface Line {
  command: string;
  /** The answer that the page shows below it. */
  answer: unknown;
}

/** The page's curl lines in their order. */
function curlLines(): Line[] {
  const blocks = [...page.matchAll(/```(sh|json)\n([^]*?)```/g)].map(([, kind, text = '']) => ({ kind, text }));
  return blocks.flatMap(({ kind, text }, place) => {
    if (kind !== 'sh' || !text.startsWith('curl ')) return [];
    const next = blocks[place + 1];
    const answer: unknown = next?.kind === 'json' ? JSON.parse(next.text) : null;
    return [{ command: text.replaceAll(/\\\n\s*/g, '').trim(), answer }];
  });
}

/** Does what curl would. */
function run(command: string, variables: Record<string, string>): Promise<ApiAnswer> {
  const words = [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, bare]) => {
    const word = double ?? bare;
    return single ?? word?.replaceAll(/\$(\w+)/g, (_, name: string) => variables[name] ?? 'unset') ?? '';
  });
  const valuesOf = (option: string): string[] => words.filter((_, place) => words[place - 1] === option);
  const url = words.find((word) => word.startsWith('http://localhost:8080'));
  assert.ok(url && words[0] === 'curl', command);
  const [body] = valuesOf('-d');
  const headers = Object.fromEntries(
    valuesOf('-H').map((header) => {
      const [name = '', value = ''] = header.split(': ');
      return [name.toLowerCase(), value];
    }),
  );
  const client = createApiClient(story.service.url, '');
  const [method = body === undefined ? 'GET' : 'POST'] = valuesOf('-X');
  const path = url.replace('http://localhost:8080', '');
  return client.send(method, path, { headers, ...(body === undefined ? {} : { body }) });
}

/** The same but for what is different each time. */
function withoutChance(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replaceAll(/"[0-9a-f]{8}-[0-9a-f-]{27}"/g, '"an id"')
    .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"a time"')
    .replaceAll(/"[0-9A-Za-z]{30}"/g, '"a reference"');
  return JSON.parse(text);
}

test('every curl line of the page on transfers works, and answers what the page says', async () => {
  const lines = curlLines();
  assert.equal(lines.length, 7);
  assert.equal(lines.length, page.match(/^curl /gm)?.length);
  const variables = { KEY: story.merchant.key, ID: '' };
  for (const { command, answer: shown } of lines) {
    const isCancel = command.includes('/cancel');
    const waiting = isCancel ? await story.transferSettled('7000010') : '';
    const answer = await run(command, isCancel ? { ...variables, ID: waiting } : variables);
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
