import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiRoutes } from '../app/api-routes.ts';
import { createSchemaCheck } from '../api/schema-check.ts';

// A schema is compiled at its first request, so that a wrong one would fail that request.
test('every schema of a request, of every route, can be compiled', () => {
  let count = 0;
  for (const { method, path, params, query, body } of apiRoutes) {
    for (const schema of [params, query, body]) {
      if (!schema) continue;
      count += 1;
      assert.doesNotThrow(() => createSchemaCheck(schema)({}), `${method} ${path}`);
    }
  }
  assert(count > apiRoutes.length, 'most routes have one or more');
});
