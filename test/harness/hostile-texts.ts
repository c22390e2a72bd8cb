import assert from 'node:assert/strict';
import type { ApiClient } from './api-client.ts';
import { exampleHeaders, exampleOf, type OwnRecords } from './api-examples.ts';
import type { JsonSchema, Operation } from './openapi.ts';
import type { TestService } from './service.ts';
import { asOwner } from './tables.ts';

/** What a spreadsheet begins a formula with. */
export const formulaStarts = ['=', '+', '-', '@', '\t', '\r', '\uff1d'] as const;

/** The attribute of an element that exists on a page only where a text has become markup. */
export const markup = 'data-markup';

/** Ends every context that a page puts a text into, then begins an element and a script; `where` names the field. */
export function hostileText(
  where: string,
  { start = '=', lengthMax = 200 }: { start?: string; lengthMax?: number } = {},
) {
  const element = `<b ${markup}="${where}">`;
  const texts = [
    `${start}1'"--></textarea></title></style></script>${element}<img src=/x onerror=isRun=1><script>isRun=1</script>`,
    `${start}1'"></script>${element}`,
    `${start}'"><b ${markup}>`,
  ];
  return texts.find(({ length }) => length <= lengthMax) ?? start;
}

/** Names of fields whose texts are of a form that the API checks. Any other string of a body is free text. */
const checkedFields =
  /^(?:business_name|currency|network|account_number|settlement_code|customer|customer_phone|customer_email|phone|email|reference|event|intent_secret|sub_account|sub_account_group|chat_numbers|payment_methods|enabled_events|url|\w+_url|\w+_ids?|\w*day|\w+_at)$/;

/** A body in which every field for free text that its schema has is hostile, whether or not the body had it. */
export function hostileBody(schema: JsonSchema, body: unknown, path = ''): unknown {
  const result: Record<string, unknown> = { ...(body as Record<string, unknown>) };
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const type = field.anyOf?.find((each) => each.type !== 'null') ?? field;
    const where = path === '' ? name : `${path}.${name}`;
    if (name === 'metadata') result[name] = { [hostileText(where, { lengthMax: 40 })]: hostileText(where) };
    else if (type.type === 'object' && name in result) result[name] = hostileBody(type, result[name], where);
    else if (checkedFields.test(name) || 'x-ignored' in field) continue;
    else if (isFreeText(type)) result[name] = hostileText(where, limitOf(type));
    else if (type.type === 'array' && type.items && isFreeText(type.items)) {
      result[name] = [hostileText(where, limitOf(type.items))];
    }
  }
  return result;
}

const isFreeText = ({ type, ...rest }: JsonSchema): boolean =>
  type === 'string' && !['enum', 'const', 'format', 'pattern'].some((keyword) => keyword in rest);
const limitOf = ({ maxLength }: JsonSchema) => ({ lengthMax: Number(maxLength ?? 200) });

/** The client of a merchant whose every request has hostile texts wherever the OpenAPI document allows text. */
export function hostileClient(api: ApiClient, operations: readonly Operation[]): ApiClient {
  const post: ApiClient['post'] = (path, body, headers) => {
    const operation = operations.find((each) => each.method === 'POST' && each.path === path);
    return api.post(path, operation?.body ? hostileBody(operation.body, body) : body, headers);
  };
  return { ...api, post };
}

/** Creates and changes one record by each operation that takes free text. */
export async function sendHostileBodies(
  api: ApiClient,
  operations: readonly Operation[],
  own: OwnRecords,
): Promise<void> {
  for (const { operationId, method, path, body, scope } of operations) {
    const example = exampleOf(operationId);
    // A link that is switched off has no page.
    const hostile = body && hostileBody(body, { ...example.body?.(own), status: undefined });
    if (!JSON.stringify(hostile ?? null).includes(markup) || scope === 'read') continue;
    const init = { body: JSON.stringify(hostile), headers: exampleHeaders(example) };
    const response = await api.send(method, path.replace('{id}', own[example.names ?? 'intentId']), init);
    assert.ok(response.status < 300, `${operationId} refuses free text: ${response.text}`);
  }
}

interface Column {
  table: string;
  name: string;
  type: string;
}

/** Columns of texts that are no key and refer to nothing: what is in those is another column's, or generated. */
const textColumns = `
  SELECT format('%I.%I', namespace.nspname, class.relname) AS table, attribute.attname AS name,
         format_type(attribute.atttypid, NULL) AS type
    FROM pg_attribute AS attribute
    JOIN pg_class AS class ON class.oid = attribute.attrelid AND class.relkind = 'r'
    JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace AND namespace.nspname IN ('public', 'simulator')
   WHERE attribute.attnum > 0 AND NOT attribute.attisdropped
     AND attribute.atttypid IN ('text'::regtype, 'text[]'::regtype, 'json'::regtype, 'jsonb'::regtype)
     AND NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = class.oid AND contype IN ('p', 'f') AND attnum = ANY (conkey))
   ORDER BY 1, 2`;

/** Tables and columns that only the service itself writes, in a form of its own. A page that reads another column as such a form fails. */
const ownTables =
  /^(?:schema_migrations|key_checks|installation_secrets|circuit_breakers|outbox|ledger_\w+|rail_accounts|daily_figures)$/;
const ownColumns =
  /^(?:currency|short_id|kinds?|status|state|planned_status|network|shape|wire|password_hash|network_handles|next_action|purpose|roles?|scopes|addresses|last_four|action|actor_type|object_type|object_id|result|review|rail_account|failure_code|payment_methods|step|resolution|class|subject_type|source|waiting_for|decision|page_colour|\w*request_id|fingerprint|identity|record|changes|differences|definition|body|notifications|outcome|code|chat_numbers|channel|scope)$/;

/**
 * Puts a hostile text into every column that may hold free text, as if nothing that is written had been checked: what networks and
 * receivers of events report, and what a later field will hold. Returns the columns. One that the database itself restricts is left.
 */
export async function fillTextColumns(service: TestService, start = '='): Promise<string[]> {
  const filled: string[] = [];
  for (const { table, name, type } of await asOwner<Column>(service, textColumns)) {
    if (ownTables.test(table.replace('public.', '')) || ownColumns.test(name)) continue;
    const column = `${table.replace('public.', '')}.${name}`;
    const text = `${name.endsWith('url') ? 'javascript:isRun=1//' : ''}${hostileText(column, { start })}`;
    const values: Record<string, unknown> = { text, 'text[]': [text] };
    const value = values[type] ?? JSON.stringify({ [text]: text });
    const change = `UPDATE ${table} SET ${name} = $1`;
    try {
      await asOwner(service, change, [value]).catch(() =>
        asOwner(service, `${change} WHERE ${name} IS NOT NULL`, [value]),
      );
      filled.push(column);
    } catch (error) {
      if (!/violates (?:check|unique) constraint/.test(String(error))) throw error;
    }
  }
  return filled;
}
