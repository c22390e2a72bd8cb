import { bodySchemaOf, type PlacedOperation, type Schema } from './api-document.ts';
import { withoutNull } from './schema-fields.ts';

const id = '01939f00-0000-7000-8000-000000000002';

/** Values for fields whose schema has no example. */
const examplesByName: Readonly<Record<string, string | number>> = {
  url: 'https://shop.example/events',
  intent_secret: '2e824573f9c1d4cc4c671bb4857d7c8341d837f2ccf7c81d1e6322697928c674',
  overlap_hours: 24,
  network: 'wave',
  settlement_code: 'wave',
  account_number: '7012345',
  beneficiary_name: 'Awa Ceesay',
  name: 'Awa Ceesay',
  title: 'School fees',
  sub_account: id,
  endpoint_id: id,
  reference: 'TX-20261120-101800-7KQ2M9XA',
  'idempotency-key': 'wages-2026-05-awa',
};

/** A curl command for an operation, with a minimal body. */
export function curlExample({ method, path, operation }: PlacedOperation, baseUrl: string): string {
  const schema = bodySchemaOf(operation);
  const query = (operation.parameters ?? [])
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name }) => `${name}=${examplesByName[name] ?? '…'}`);
  const address = `${baseUrl}${path.replaceAll('{id}', id)}${query.length > 0 ? `?${query.join('&')}` : ''}`;
  const lines = [
    `curl -s ${method === 'GET' ? '' : `-X ${method} `}${shellQuote(address)}`,
    `  -H 'Authorization: Bearer sk_test_…'`,
    ...(operation.parameters ?? [])
      .filter((parameter) => parameter.in === 'header' && parameter.required)
      .map(({ name }) => `  -H '${name}: ${examplesByName[name] ?? '…'}'`),
  ];
  if (schema) {
    lines.push(`  -H 'Content-Type: application/json'`, `  -d ${shellQuote(JSON.stringify(exampleOf(schema)))}`);
  }
  return lines.join(' \\\n');
}

/** The required fields of a body, or its first field if none is required, because an empty body shows nothing. */
export function exampleOf(property: Schema, name = ''): unknown {
  const { schema } = withoutNull(property);
  const whole = schema.examples?.[0];
  if (whole !== undefined) return whole;
  if (schema.properties) {
    const names = Object.keys(schema.properties);
    const shown = schema.required ?? names.slice(0, 1);
    return Object.fromEntries(shown.map((field) => [field, exampleOf(schema.properties?.[field] ?? {}, field)]));
  }
  if (schema.items && schema.minItems) return [exampleOf(schema.items, name)];
  const example = examplesByName[name];
  // The first branch of a union.
  if (example === undefined && schema.anyOf?.[0]) return exampleOf(schema.anyOf[0], name);
  return example ?? schema.default ?? schema.enum?.[0] ?? null;
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
