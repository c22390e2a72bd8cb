import type { EventKind } from '../../server/src/events/kinds.ts';
import { customerRecipes } from './customer-recipes.ts';
import { endpointRecipes } from './endpoint-recipes.ts';
import { paymentRecipes } from './payment-recipes.ts';
import type { Recipe } from './recipe.ts';
import { transferRecipes } from './transfer-recipes.ts';

/** How each kind of event is brought about, or why it cannot be. The compiler misses a kind that has none. */
export const recipes: Readonly<Record<EventKind, Recipe>> = {
  ...paymentRecipes,
  ...transferRecipes,
  ...customerRecipes,
  ...endpointRecipes,
};
