import { notBlank } from '../api/field-values.ts';
import { mapRows } from '../api/list-reader.ts';
import { readTimeRange, timeRange } from '../api/time-range.ts';
import { listRoute } from '../api/list-route.ts';
import { readRoute, writeRoute, type ApiRoute } from '../api/route.ts';
import { bareOrWrapped, deletedSchema, unwrapped } from '../api/wire-types.ts';
import { createGroup, getGroup, listGroups, updateGroup, deleteGroup } from './manage-groups.ts';
import type { SubAccountContext } from './sub-account.ts';
import { groupToWire, membersOf, groupChangeSchema, groupSchema, newGroupSchema } from './sub-account-wire.ts';

const tag = 'Sub-account groups';

const create = writeRoute('POST', {
  path: '/v1/sub-account-groups',
  operationId: 'createSubAccountGroup',
  scope: 'charge',
  tag,
  summary: 'Create a group of sub-accounts',
  description: 'A payment that names the group is split among its members by these percentages.',
  body: bareOrWrapped(newGroupSchema),
  status: 201,
  response: groupSchema,
  async handle(context: SubAccountContext, { caller, body }, tx) {
    const { fields, prefix } = unwrapped(body);
    const name = notBlank(fields.name, `${prefix}name`);
    const request = { name, members: membersOf(fields.members, prefix), prefix };
    return groupToWire(caller, await createGroup(tx, context, caller, request));
  },
});

const list = listRoute({
  path: '/v1/sub-account-groups',
  operationId: 'listSubAccountGroups',
  tag,
  summary: 'List groups of sub-accounts, newest first',
  isSearchable: true,
  filters: timeRange('Created'),
  item: groupSchema,
  async read(context: SubAccountContext, { caller, query, page, term }) {
    return mapRows(await listGroups(context, caller.merchantId, page, { term, ...readTimeRange(query) }), (group) =>
      groupToWire(caller, group),
    );
  },
});

const retrieve = readRoute({
  path: '/v1/sub-account-groups/:id',
  operationId: 'retrieveSubAccountGroup',
  tag,
  summary: 'Retrieve a group of sub-accounts',
  response: groupSchema,
  async handle(context: SubAccountContext, { caller, params }) {
    return groupToWire(caller, await getGroup(context.db, caller.merchantId, params.id));
  },
});

const update = writeRoute('PUT', {
  path: '/v1/sub-account-groups/:id',
  operationId: 'updateSubAccountGroup',
  scope: 'charge',
  tag,
  summary: 'Update a group of sub-accounts',
  description: 'The members sent replace the current ones. Existing payments keep their split.',
  body: bareOrWrapped(groupChangeSchema),
  response: groupSchema,
  async handle(context: SubAccountContext, { caller, params, body }, tx) {
    const { fields, prefix } = unwrapped(body);
    const change = {
      name: fields.name === undefined ? undefined : notBlank(fields.name, `${prefix}name`),
      members: fields.members === undefined ? undefined : membersOf(fields.members, prefix),
    };
    return groupToWire(caller, await updateGroup(tx, context.clock, caller, { id: params.id, change, prefix }));
  },
});

const remove = writeRoute('DELETE', {
  path: '/v1/sub-account-groups/:id',
  operationId: 'deleteSubAccountGroup',
  scope: 'charge',
  tag,
  summary: 'Delete a group of sub-accounts',
  description: 'Its members and the splits of existing payments stay.',
  response: deletedSchema,
  async handle(context: SubAccountContext, { caller, params }, tx) {
    await deleteGroup(tx, context.clock, caller.merchantId, params.id);
    return { id: params.id, deleted: true };
  },
});

export const subAccountGroupRoutes: readonly ApiRoute<SubAccountContext>[] = [create, list, retrieve, update, remove];
