import type { EventKind } from '../../server/src/events/kinds.ts';
import { sanitizeLine } from '../../server/src/kit/terminal-text.ts';
import { endpointPage, idIn, readResponse } from '../api/responses.ts';
import { CommandFailure } from '../command.ts';
import { paymentRecipes } from './payment-recipes.ts';
import type { Recipe, TriggerContext } from './recipe.ts';
import { transferRecipes } from './transfer-recipes.ts';

type CustomerKind = Extract<EventKind, `customer.${string}`>;

const customerRecipes: Readonly<Record<CustomerKind, Recipe>> = {
  'customer.created': { how: 'creates a customer', run: createCustomer },
  'customer.updated': {
    how: 'creates a customer and changes the name',
    run: async (context) => {
      const created = await createCustomer(context);
      await context.api.send('PUT', `/v1/customers/${created.objectId}`, { name: 'dalasi trigger, changed' });
      return created;
    },
  },
  'customer.deleted': {
    how: 'creates a customer and deletes it',
    run: async (context) => {
      const created = await createCustomer(context);
      await context.api.send('DELETE', `/v1/customers/${created.objectId}`);
      return created;
    },
  },
};

async function createCustomer({ api }: TriggerContext): Promise<{ objectId: string }> {
  const created = await api.post('/v1/customers', { name: 'dalasi trigger' });
  return { objectId: idIn(created) };
}

type EndpointKind = Extract<EventKind, `webhook_endpoint.${string}`>;

const endpointRecipes: Readonly<Record<EndpointKind, Recipe>> = {
  'webhook_endpoint.test': {
    how: 'sends a test event to --endpoint, or to the only enabled endpoint',
    run: async (context) => {
      const endpointId = context.endpointId ?? (await onlyEndpoint(context));
      const { event_id: eventId } = await context.api.post(`/v1/webhook-endpoints/${endpointId}/test`);
      return { eventId: String(eventId) };
    },
  },
  'webhook_endpoint.failing': {
    how: 'cannot be triggered: takes a day',
    cannot: 'webhook_endpoint.failing comes when an endpoint has failed for 24 hours.',
  },
  'webhook_endpoint.disabled': {
    how: 'cannot be triggered: needs a receiver that fails',
    cannot:
      'webhook_endpoint.disabled comes when an endpoint responds with 410 or has failed for five days: let your receiver ' +
      'respond with 410, for example to dalasi trigger charge.succeeded.',
  },
};

async function onlyEndpoint({ api }: TriggerContext): Promise<string> {
  const { body } = await api.get('/v1/webhook-endpoints', { limit: 100 });
  const usable = readResponse(endpointPage, body).data.filter(
    ({ url, status }) => url !== null && status === 'enabled',
  );
  const [only, ...others] = usable;
  if (!only) throw new CommandFailure('No endpoint is enabled and has a URL. Set one: PUT /v1/webhook-endpoints/{id}.');
  if (others.length === 0) return only.id;
  const list = usable.map(({ id, url }) => `  ${id}  ${sanitizeLine(String(url))}`).join('\n');
  throw new CommandFailure(`There are several endpoints. Choose one with --endpoint:\n${list}`);
}

/** How each kind of event is triggered, or why it cannot be. The compiler reports a kind without an entry. */
export const recipes: Readonly<Record<EventKind, Recipe>> = {
  ...paymentRecipes,
  ...transferRecipes,
  ...customerRecipes,
  ...endpointRecipes,
};
