import type { EventKind } from '../../server/src/events/kinds.ts';
import { idIn } from '../api/answers.ts';
import type { Kitchen, Recipe } from './recipe.ts';

type CustomerKind = Extract<EventKind, `customer.${string}`>;

export const customerRecipes: Readonly<Record<CustomerKind, Recipe>> = {
  'customer.created': { how: 'creates a customer', make: create },
  'customer.updated': {
    how: 'creates a customer and changes the name',
    make: async (kitchen) => {
      const made = await create(kitchen);
      await kitchen.api.send('PUT', `/v1/customers/${made.objectId}`, { name: 'dalasi trigger, changed' });
      return made;
    },
  },
  'customer.deleted': {
    how: 'creates a customer and deletes it',
    make: async (kitchen) => {
      const made = await create(kitchen);
      await kitchen.api.send('DELETE', `/v1/customers/${made.objectId}`);
      return made;
    },
  },
};

async function create({ api }: Kitchen): Promise<{ objectId: string }> {
  const created = await api.post('/v1/customers', { name: 'dalasi trigger' });
  return { objectId: idIn(created) };
}
