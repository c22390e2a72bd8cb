import { columnFilter, createdFilter, substringPattern, type ListFilter, type TimeFilter } from '../api/list-filter.ts';
import { listOf, type List, type ListConditions, type ListReader, type ListSource } from '../api/list-reader.ts';
import type { PageRequest } from '../api/pagination.ts';
import type { Queryable } from '../kit/db.ts';
import { rowsBy, statementBy } from '../kit/run-statement.ts';
import { installationId, readingActions, type AuditEntry } from './audit-entry.ts';

const columns = `business_id AS "businessId", id, test_mode AS "testMode", actor_type AS "actorType", actor_id AS "actorId",
  actor_name AS "actorName", action, result, object_type AS "objectType", object_id AS "objectId", changes,
  session_id AS "sessionId", request_id AS "requestId", address, created_at AS "createdAt"`;

export const insertAuditEntry = statementBy<[entry: AuditEntry]>({
  name: 'audit_entries_insert',
  text: `INSERT INTO audit_entries (business_id, id, test_mode, actor_type, actor_id, actor_name, action, object_type,
           object_id, changes, session_id, request_id, address, created_at, result)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
  values: (entry) => [
    entry.businessId,
    entry.id,
    entry.testMode,
    entry.actorType,
    entry.actorId,
    entry.actorName,
    entry.action,
    entry.objectType,
    entry.objectId,
    JSON.stringify(entry.changes),
    entry.sessionId,
    entry.requestId,
    entry.address,
    entry.createdAt,
    entry.result,
  ],
});

/** Filters of the audit log; undefined is no filter. */
export interface AuditFilter extends TimeFilter {
  /** Entries of one environment, and those of both; of every one by default. */
  testMode?: boolean;
  action?: string | undefined;
  actorId?: string | undefined;
  objectId?: string | undefined;
  /** In the names of actor, action and object. */
  term?: string | undefined;
}

const auditList: ListSource<AuditEntry> = {
  name: 'audit_entries',
  select: `SELECT ${columns} FROM audit_entries WHERE business_id = $1`,
  onlyGrows: true,
};

// Of no business in particular: the parameter that every list has is only checked to be there.
const operatorList: ListSource<AuditEntry> = {
  name: 'audit_entries_of_operators',
  select: `-- across merchants: what operators did, to whichever business
           SELECT ${columns} FROM audit_entries WHERE actor_type = 'operator' AND $1::uuid IS NOT NULL`,
  onlyGrows: true,
};

/** What operators did, to businesses and to the installation; newest first. */
export function listOperatorEntries(
  lists: ListReader,
  page: PageRequest,
  filter: AuditFilter,
): Promise<List<AuditEntry>> {
  return lists.read(operatorList, { merchantId: installationId, page, ...conditionsOf(filter) });
}

/** Of a business, newest first. */
export const listAuditEntries = listOf(auditList, conditionsOf);

function conditionsOf({ testMode, action, actorId, objectId, term, ...times }: AuditFilter): ListConditions {
  const filters = [
    ...(testMode === undefined ? [] : [modeFilter(testMode)]),
    ...columnFilter('action', 'action =', action),
    ...columnFilter('actor', 'actor_id =', actorId),
    ...columnFilter('object', 'object_id =', objectId),
    ...createdFilter('audit_entries', times),
    ...(term === undefined ? [] : [textFilter(term)]),
  ];
  return { filters, isSearch: term !== undefined };
}

function modeFilter(testMode: boolean): ListFilter {
  return { name: 'mode', text: (next) => `(test_mode IS NULL OR test_mode = ${next()})`, values: [testMode] };
}

function textFilter(term: string): ListFilter {
  return {
    name: 'text',
    text: (next) => {
      const pattern = next();
      return `(actor_name ILIKE ${pattern} OR action ILIKE ${pattern} OR object_id ILIKE ${pattern} OR changes::text ILIKE ${pattern})`;
    },
    values: [substringPattern(term)],
  };
}

/** Who changed a record last; with `action`, in that way. */
export function findNewestEntryOf(
  db: Queryable,
  businessId: string,
  objectId: string,
  action: string | null = null,
): Promise<AuditEntry | undefined> {
  return db.row<AuditEntry>({
    name: 'audit_entries_newest_of_object',
    text: `SELECT ${columns} FROM audit_entries WHERE business_id = $1 AND object_id = $2 AND CASE WHEN $3::text IS NULL THEN action <> ALL ($4::text[]) ELSE action = $3 END
            ORDER BY id DESC LIMIT 1`,
    values: [businessId, objectId, action, readingActions],
  });
}

/** Who did one of these actions to which of these records; one row for each time. */
export const listActorsOn = rowsBy<
  { objectId: string; actorId: string | null },
  [businessId: string, { objectIds: readonly string[]; actions: readonly string[] }]
>({
  name: 'audit_entries_actors_on',
  text: `SELECT object_id AS "objectId", actor_id AS "actorId" FROM audit_entries
          WHERE business_id = $1 AND object_id = ANY ($2::text[]) AND action = ANY ($3::text[]) AND result = 'done'`,
  values: (businessId, { objectIds, actions }) => [businessId, objectIds, actions],
});
