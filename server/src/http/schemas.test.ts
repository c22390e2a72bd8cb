import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { apiRoutes } from '../app/api-routes.ts';
import { createSchemaCheck, extendValidator } from '../api/schema-check.ts';
import { describeApi } from './openapi.ts';

const ajv = new Ajv();
extendValidator(ajv);

// A schema is compiled at its first request, so that a wrong one would fail that request; and never held against the schema of
// schemas, as it is here.
test('every schema of a request, of every route, can be compiled', () => {
  let count = 0;
  for (const { method, path, params, query, body } of apiRoutes) {
    for (const schema of [params, query, body]) {
      if (!schema) continue;
      count += 1;
      assert(ajv.validateSchema(schema), `${method} ${path}: ${ajv.errorsText()}`);
      assert.doesNotThrow(() => createSchemaCheck(schema)({}), `${method} ${path}`);
    }
  }
  assert(count > apiRoutes.length, 'most routes have one or more');
});

test('a client generated from the document gets files as bytes, and no record described as a response', async () => {
  const { paths, components } = JSON.parse(JSON.stringify(await describeApi(apiRoutes))) as {
    paths: Record<string, { get: { responses: { 200: { content: object } } } }>;
    components: { schemas: Record<string, { description?: string }> };
  };
  const poster = paths['/v1/virtual-terminals/download/{id}']?.get.responses[200].content;
  assert.deepEqual(
    Object.values(poster ?? {}).map(({ schema }) => schema.format),
    ['binary', 'binary', 'binary'],
  );
  const described = Object.entries(components.schemas).filter(([, { description }]) => description !== undefined);
  assert.deepEqual(described, []);
});
