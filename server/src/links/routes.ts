import Type from 'typebox';
import type { JsonRecord } from '../events/kinds.ts';
import { mapRows } from '../api/list-reader.ts';
import { readTimeRange, timeRange } from '../api/time-range.ts';
import { listRoute } from '../api/list-route.ts';
import { amountToJson } from '../kit/money.ts';
import { readRoute, writeRoute, type ApiRoute, type Caller } from '../api/route.ts';
import { bareOrWrapped, deletedSchema, unwrapped } from '../api/wire-types.ts';
import { merchantOf } from '../merchants/merchant-of.ts';
import type { PaymentContext } from '../payments/context.ts';
import { createLink, getLink, updateLink, deleteLink } from './manage-links.ts';
import { changeOf } from './link-fields.ts';
import type { PaymentLink } from './payment-link.ts';
import { listLinks } from './queries.ts';
import { linkChangeSchema, linkSchema, linkStatusType, newLinkSchema } from './wire-schemas.ts';

const tag = 'Payment links';
const path = '/v1/payment-links';
const refusals = [
  'amount_out_of_bounds',
  'currency_not_supported',
  'url_not_allowed',
  'sub_account_paused',
  'split_exceeds_amount',
] as const;

const create = writeRoute('POST', {
  path,
  operationId: 'createPaymentLink',
  scope: 'charge',
  tag,
  summary: 'Create a payment link',
  description:
    'A hosted page that can be paid any number of times. Leave out `amount` to let the payer enter one, ' +
    'of at least `min_amount`.',
  body: Type.Object({ data: newLinkSchema }, { additionalProperties: false }),
  status: 201,
  response: linkSchema,
  errors: refusals,
  async handle(context: PaymentContext, { caller, body }, tx) {
    const merchant = await merchantOf(context, caller, tx);
    const fields = { ...changeOf(context.settings.urlPolicy, merchant, body.data, 'data.'), title: body.data.title };
    return linkToWire(context, caller, await createLink(tx, context, merchant, { fields, prefix: 'data.' }));
  },
});

const list = listRoute({
  path,
  operationId: 'listPaymentLinks',
  tag,
  summary: 'List payment links, newest first',
  isSearchable: true,
  filters: { status: Type.Optional(linkStatusType), ...timeRange('Created') },
  item: linkSchema,
  async read(context: PaymentContext, { caller, query, page, term }) {
    const active = query.status === undefined ? undefined : query.status === 'active';
    const links = await listLinks(context.lists, caller.merchantId, page, { active, term, ...readTimeRange(query) });
    return mapRows(links, (link) => linkToWire(context, caller, link));
  },
});

const retrieve = readRoute({
  path: `${path}/:id`,
  operationId: 'retrievePaymentLink',
  tag,
  summary: 'Retrieve a payment link',
  response: linkSchema,
  async handle(context: PaymentContext, { caller, params }) {
    return linkToWire(context, caller, await getLink(context.db, caller.merchantId, params.id));
  },
});

const update = writeRoute('PUT', {
  path: `${path}/:id`,
  operationId: 'updatePaymentLink',
  scope: 'charge',
  tag,
  summary: 'Update a payment link',
  description:
    'Send only what changes; null removes an optional field. Existing payments do not change. With ' +
    '`status: "inactive"` the page says that the link is not active and accepts no payments.',
  body: bareOrWrapped(linkChangeSchema),
  response: linkSchema,
  errors: refusals,
  async handle(context: PaymentContext, { caller, params, body }, tx) {
    const merchant = await merchantOf(context, caller, tx);
    const { fields, prefix } = unwrapped(body);
    const request = { id: params.id, change: changeOf(context.settings.urlPolicy, merchant, fields, prefix), prefix };
    return linkToWire(context, caller, await updateLink(tx, context, merchant, request));
  },
});

const remove = writeRoute('DELETE', {
  path: `${path}/:id`,
  operationId: 'deletePaymentLink',
  scope: 'charge',
  tag,
  summary: 'Delete a payment link',
  description:
    'Its page says that the link was deleted. Its payments stay, and payments that have started can ' +
    'still be completed.',
  response: deletedSchema,
  async handle(context: PaymentContext, { caller, params }, tx) {
    await deleteLink(tx, context.clock, { merchantId: caller.merchantId, id: params.id });
    return { id: params.id, deleted: true };
  },
});

const single = {
  path: `${path}/single/:id`,
  description: 'Does the same as `/v1/payment-links/{id}`, which replaces it.',
  deprecated: true,
};

const singles: ApiRoute<PaymentContext>[] = [
  {
    ...retrieve,
    ...single,
    operationId: 'retrieveSinglePaymentLink',
    summary: 'Retrieve a payment link at its former address',
  },
  {
    ...update,
    ...single,
    operationId: 'updateSinglePaymentLink',
    summary: 'Update a payment link at its former address',
  },
  {
    ...remove,
    ...single,
    operationId: 'deleteSinglePaymentLink',
    summary: 'Delete a payment link at its former address',
  },
];

export const linkRoutes: readonly ApiRoute<PaymentContext>[] = [create, list, retrieve, update, remove, ...singles];

function linkToWire({ settings }: Pick<PaymentContext, 'settings'>, caller: Caller, link: PaymentLink): JsonRecord {
  return {
    id: link.id,
    url: `${settings.publicUrl()}/link/${link.token}`,
    title: link.title,
    description: link.description,
    amount: link.amountMinor === null ? null : amountToJson(link.amountMinor),
    min_amount: link.minAmountMinor === null ? null : amountToJson(link.minAmountMinor),
    currency: link.currency,
    metadata: link.metadata,
    redirect_url: link.redirectUrl,
    cancel_url: link.cancelUrl,
    custom_fields: link.customFields,
    sub_account: link.subAccountId,
    sub_account_group: link.subAccountGroupId,
    status: link.active ? 'active' : 'inactive',
    test_mode: caller.testMode,
    createdAt: link.createdAt.toISOString(),
    updatedAt: link.updatedAt.toISOString(),
  };
}
