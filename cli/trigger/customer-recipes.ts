import type { EventKind } from '../../server/src/events/kinds.ts';
import { idIn } from '../api/responses.ts';
import type { TriggerContext, Recipe } from './recipe.ts';

type CustomerKind = Extract<EventKind, `customer.${string}`>;

export const customerRecipes: Readonly<Record<CustomerKind, Recipe>> = {
  'customer.created': { how: 'creates a customer', run: create },
  'customer.updated': {
    how: 'creates a customer and changes the name',
    run: async (context) => {
      const created = await create(context);
      await context.api.send('PUT', `/v1/customers/${created.objectId}`, { name: 'dalasi trigger, changed' });
      return created;
    },
  },
  'customer.deleted': {
    how: 'creates a customer and deletes it',
    run: async (context) => {
      const created = await create(context);
      await context.api.send('DELETE', `/v1/customers/${created.objectId}`);
      return created;
    },
  },
};

async function create({ api }: TriggerContext): Promise<{ objectId: string }> {
  const created = await api.post('/v1/customers', { name: 'dalasi trigger' });
  return { objectId: idIn(created) };
}
