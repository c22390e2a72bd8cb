import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeType, fieldsOf } from './schema-fields.ts';

test('types are described in words, with their bounds', () => {
  assert.equal(describeType({ type: 'string', minLength: 1, maxLength: 2_048 }), 'string, at most 2,048 characters');
  assert.equal(describeType({ type: 'string', minLength: 2, maxLength: 3 }), 'string, 2 to 3 characters');
  assert.equal(describeType({ type: 'string', format: 'date-time' }), 'date-time');
  assert.equal(
    describeType({ type: 'integer', minimum: 1, maximum: 100, default: 10 }),
    'whole number, 1 to 100, 10 unless set',
  );
  assert.equal(
    describeType({ type: 'array', items: { type: 'string' }, minItems: 1 }),
    'list of string, at least 1 entries',
  );
  assert.equal(describeType({ anyOf: [{ enum: ['a'] }, { enum: ['b'] }] }), '"a" or "b"');
  assert.equal(describeType({ $ref: '#/components/schemas/Charge' }), 'Charge');
  assert.equal(describeType({}), 'anything');
});

test('a union of objects names the fields of each', () => {
  const branch = (type: string, more: object) => ({ type: 'object', properties: { type: { enum: [type] }, ...more } });
  const schema = {
    anyOf: [{ anyOf: [branch('open_url', { url: {} }), branch('approve_on_phone', {})] }, { type: 'null' }],
  };
  const [field] = fieldsOf({ properties: { next_action: schema } });
  assert.equal(field?.type, '{type: "open_url", url} or {type: "approve_on_phone"}, or null');
});

test('nested fields follow their parent, and records are named', () => {
  const fields = fieldsOf({
    required: ['data'],
    properties: {
      data: { type: 'object', required: ['amount'], properties: { amount: { type: 'number', description: 'What.' } } },
      steps: { type: 'array', items: { type: 'object', properties: { at: { type: 'string' } } } },
      charges: { type: 'array', items: { $ref: '#/components/schemas/Charge' } },
    },
  });
  assert.deepEqual(
    fields.map(({ path, type, isRequired, record }) => [path, type, isRequired, record]),
    [
      ['data', 'object', true, null],
      ['data.amount', 'number', true, null],
      ['steps', 'list of object', false, null],
      ['steps[].at', 'string', false, null],
      ['charges', 'list of Charge', false, 'Charge'],
    ],
  );
  assert.equal(fields[1]?.description, 'What.');
});
