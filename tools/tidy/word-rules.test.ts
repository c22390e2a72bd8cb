import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { code, findingsIn } from './findings.corpus.ts';
import { loadSqlParser } from './postgresql.ts';

before(loadSqlParser);

const glossary = {
  'docs/glossary.md': `# Glossary

| Word | Meaning |
|---|---|
| Answer | What a person fills in. |

## Retired words

| Retired | Write instead |
|---|---|
| lane, lanes | queue, shard |
| answer (of a custom field) | response |
`,
};

describe('retired words', () => {
  for (const source of [
    'export const lane = 1;',
    'export function nextLaneOf() {}',
    'class Worker { #lanes = []; }',
    'export interface Work { open_lane: string }',
    'const first = { laneKey: 1 };',
  ])
    test(`a name that holds one is found: ${source}`, () => {
      const findings = findingsIn(code, source, glossary);
      assert.match(findings.join('\n'), /^\S+:1 \w+ holds the retired word “lanes?”; write queue, shard/);
      assert.equal(findings.length, 1);
    });

  test('the line of the first use is named, and a name is named once for each file', () => {
    const text = `${code}:2 answerOf holds the retired word “answer”; write response (docs/glossary.md)`;
    assert.deepEqual(findingsIn(code, 'let a;\nanswerOf(a);\nanswerOf(a);', glossary), [text]);
  });

  test('words that contain one, strings and comments pass', () => {
    const source = "// a lane\nexport const planeText = 'lane'; // answer";
    assert.deepEqual(findingsIn(code, source, glossary), []);
  });

  test('the answers of custom fields keep their name in the files of custom fields', () => {
    assert.deepEqual(findingsIn('server/src/links/custom-fields.ts', 'export const answer = 1;', glossary), []);
    assert.deepEqual(findingsIn('server/src/links/routes.ts', 'export const answer = 1;', glossary).length, 1);
  });
});
