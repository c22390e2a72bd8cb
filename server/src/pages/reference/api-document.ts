/** The parts of an OpenAPI 3.1 document that the reference reads. */
export interface ApiDocument {
  info: { title: string; description?: string };
  paths: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema> };
}

export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  deprecated?: boolean;
  tags: string[];
  /** The key's scope that it requires. */
  security: { secretKey: string[] }[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>;
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
}

/** The parts of JSON Schema that the routes use. */
export interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: unknown;
  description?: string;
  deprecated?: boolean;
  examples?: unknown[];
  default?: unknown;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

export interface PlacedOperation {
  method: string;
  path: string;
  operation: Operation;
}

const json = 'application/json';

/** The operations by their first tag, in the order of the document. */
export function operationsByTag(document: ApiDocument): Map<string, PlacedOperation[]> {
  const placed = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  return Map.groupBy(placed, ({ operation }) => operation.tags[0] ?? 'Other');
}

/** The schema of the body; of a body that can also be wrapped in `data`, the bare one. */
export function bodySchemaOf(operation: Operation): Schema | undefined {
  const schema = operation.requestBody?.content[json]?.schema;
  return schema?.anyOf?.[0] ?? schema;
}

/** Whether the body can also be sent as `{data: …}`. */
export function isWrappable(operation: Operation): boolean {
  return operation.requestBody?.content[json]?.schema.anyOf !== undefined;
}

/**
 * The status and schema of a successful response. `statusIfExisting` is the other status of an operation that may find what it
 * would create, else null.
 */
export function successOf(operation: Operation): {
  status: string;
  statusIfExisting: string | null;
  schema: Schema | undefined;
} {
  const statuses = Object.keys(operation.responses).filter((code) => code.startsWith('2'));
  const status = statuses.at(-1) ?? '200';
  const statusIfExisting = statuses.find((code) => code !== status) ?? null;
  return { status, statusIfExisting, schema: operation.responses[status]?.content?.[json]?.schema };
}

/** The scope that the key needs. */
export function scopeOf({ security }: Operation): string {
  return security.flatMap(({ secretKey }) => secretKey).join(', ');
}

/** Status and error codes, which http/openapi.ts writes into the descriptions in backticks. */
export function errorsOf(operation: Operation): { status: string; codes: string[] }[] {
  return Object.entries(operation.responses)
    .filter(([status]) => !status.startsWith('2'))
    .map(([status, { description }]) => ({
      status,
      codes: [...description.matchAll(/`(\w+)`/g)].map((match) => match[1] ?? ''),
    }));
}

/** The name of a schema under `components`, or null for an inline schema. */
export function recordName(schema: Schema): string | null {
  return schema.$ref?.split('/').at(-1) ?? null;
}
