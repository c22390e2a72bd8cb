import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { code, findingsIn, next } from './findings.corpus.ts';
import { loadSqlParser } from './postgresql.ts';

before(loadSqlParser);

describe('citations', () => {
  const pages = {
    'docs/api.md': '# API\n\n## Errors\n\n```sh\n# Lists\n```\n',
    'docs/adr/0003-movements.md': '# 3. Movements\n\n[Errors](../api.md#errors)\n',
  };
  const citing = (path: string, text: string) => findingsIn(path, text, pages).join('\n');

  const leadNowhere: [comment: string, message: RegExp][] = [
    ['// networks.md, 8.3', /cites networks\.md, which is not in the repository/],
    ['/** @see docs/gone.md */', /cites docs\/gone\.md/],
    ['// api.md, "Errors"', /cites api\.md, which is not/],
    ['// docs/api.md, "Lists"', /"Lists" of docs\/api\.md, which has no such heading/],
    ['// docs/api.md, "Errors" and "Wrappers"', /"Wrappers" of docs\/api\.md/],
    ['/**\n * As docs/api.md, "No\n * such", says.\n */', /"No such" of docs\/api\.md/],
    ['// docs/adr/0009', /cites docs\/adr\/0009/],
    ['// docs/adr/0003-deltas.md', /cites docs\/adr\/0003-deltas/],
    ['// ADR 3', /cites ADR 3, which leads nowhere/],
    ['// see decision 12', /cites decision 12/],
    ['// decisions, "Errors"', /cites decisions, "E/],
    ['// so says Api,\n// section 3', /cites Api, section 3/],
  ];
  for (const [comment, message] of leadNowhere)
    test(`that lead nowhere are found: ${comment.replaceAll('\n', ' ')}`, () =>
      assert.match(citing(code, `${comment}\nexport const a = 1;`) || 'nothing was found', message));

  test('that lead to a page, a heading or a decision pass', () => {
    const comment = '// docs/api.md; docs/api.md, "API" and\n// "Errors" (docs/adr/0003, docs/errors/<code>.md).';
    assert.equal(citing(code, `${comment}\nexport const a = 'networks.md';`), '');
  });

  test('of migrations and links between pages are followed too', () => {
    assert.match(citing(next, '-- The first\n-- of decisions, "Errors".\nSELECT 1;'), /:1 cites decisions/);
    assert.match(citing('docs/b.md', 'See [them](api.md#lists).'), /links to #lists of docs\/api\.md/);
    assert.match(citing('docs/b.md', 'See [them](#errors).'), /links to #errors of docs\/b\.md/);
  });
});
