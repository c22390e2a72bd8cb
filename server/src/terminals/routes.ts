import type { Queryable } from '../kit/db.ts';
import { readTimeRange, timeRange } from '../api/time-range.ts';
import { listRoute } from '../api/list-route.ts';
import { readRoute, writeRoute, type ApiRoute, type Caller } from '../api/route.ts';
import { deletedSchema } from '../api/wire-types.ts';
import { createTerminal, getTerminal, updateTerminal, deleteTerminal } from './manage-terminals.ts';
import { listTerminals } from './queries.ts';
import { qrCodeUrl } from './terminal-address.ts';
import type { ChatDelivery, TerminalContext, VirtualTerminal } from './terminal.ts';
import { newTerminalSchema, terminalChangeSchema, terminalSchema } from './wire-schemas.ts';

const tag = 'Virtual terminals';
const path = '/v1/virtual-terminals';

const create = writeRoute('POST', {
  path,
  operationId: 'createVirtualTerminal',
  scope: 'charge',
  tag,
  summary: 'Create a virtual terminal',
  description: 'A counter with its own QR code. Staff at `chat_numbers` receive a message about each payment.',
  body: newTerminalSchema,
  status: 201,
  response: terminalSchema,
  async handle(context: TerminalContext, { caller, body }, tx) {
    const request = { name: body.name, chatNumbers: body.chat_numbers };
    return recordOf(tx, context, caller, await createTerminal(tx, context, caller, request));
  },
});

const list = listRoute({
  path,
  operationId: 'listVirtualTerminals',
  tag,
  summary: 'List virtual terminals, newest first',
  isSearchable: true,
  filters: timeRange('Created'),
  item: terminalSchema,
  async read(context: TerminalContext, { caller, query, page, term }) {
    const terminals = await listTerminals(context.lists, caller.merchantId, page, { term, ...readTimeRange(query) });
    return { ...terminals, rows: await terminalsToWire(context.db, context, caller, terminals.rows) };
  },
});

const retrieve = readRoute({
  path: `${path}/:id`,
  operationId: 'retrieveVirtualTerminal',
  tag,
  summary: 'Retrieve a virtual terminal',
  response: terminalSchema,
  async handle(context: TerminalContext, { caller, params }) {
    const { db } = context;
    return recordOf(db, context, caller, await getTerminal(db, caller.merchantId, params.id));
  },
});

const update = writeRoute('PUT', {
  path: `${path}/:id`,
  operationId: 'updateVirtualTerminal',
  scope: 'charge',
  tag,
  summary: 'Update a virtual terminal',
  description: 'Send only what changes. The code and the QR code stay, so that printed posters keep working.',
  body: terminalChangeSchema,
  response: terminalSchema,
  async handle(context: TerminalContext, { caller, params, body }, tx) {
    const change = { name: body.name, chatNumbers: body.chat_numbers, active: body.active };
    return recordOf(tx, context, caller, await updateTerminal(tx, context.clock, caller, { id: params.id, change }));
  },
});

const remove = writeRoute('DELETE', {
  path: `${path}/:id`,
  operationId: 'deleteVirtualTerminal',
  scope: 'charge',
  tag,
  summary: 'Delete a virtual terminal',
  description: 'Its page says that the counter is closed. Its code is never reused, and its payments stay.',
  response: deletedSchema,
  async handle(context: TerminalContext, { caller, params }, tx) {
    await deleteTerminal(tx, context.clock, { merchantId: caller.merchantId, id: params.id });
    return { id: params.id, deleted: true };
  },
});

export const terminalRoutes: readonly ApiRoute<TerminalContext>[] = [create, list, retrieve, update, remove];

async function recordOf(
  db: Queryable,
  context: TerminalContext,
  caller: Caller,
  terminal: VirtualTerminal,
): Promise<unknown> {
  const [record] = await terminalsToWire(db, context, caller, [terminal]);
  return record;
}

/** The records of these terminals in their order, each with the delivery of the newest message to each number. */
async function terminalsToWire(
  db: Queryable,
  context: TerminalContext,
  caller: Caller,
  terminals: readonly VirtualTerminal[],
) {
  const ids = terminals.map(({ id }) => id);
  const deliveries = await context.chatDelivery(db, caller.merchantId, ids);
  return terminals.map((terminal) => terminalToWire(context, caller, terminal, deliveries.get(terminal.id)));
}

function terminalToWire(
  { settings }: Pick<TerminalContext, 'settings'>,
  caller: Caller,
  terminal: VirtualTerminal,
  deliveries: ReadonlyMap<string, ChatDelivery> | undefined,
) {
  return {
    id: terminal.id,
    name: terminal.name,
    code: terminal.code,
    qr_code_url: qrCodeUrl(settings, terminal),
    poster_url: `${settings.publicUrl()}/v1/virtual-terminals/download/${terminal.id}`,
    chat_numbers: terminal.chatNumbers,
    chat_delivery: terminal.chatNumbers.map((number, index) => {
      const newest = deliveries?.get(terminal.chatCanonical[index] ?? '');
      return {
        number,
        status: newest?.status ?? null,
        updatedAt: newest?.updatedAt.toISOString() ?? null,
        failure: newest?.failure ?? null,
      };
    }),
    active: terminal.active,
    test_mode: caller.testMode,
    createdAt: terminal.createdAt.toISOString(),
    updatedAt: terminal.updatedAt.toISOString(),
  };
}
