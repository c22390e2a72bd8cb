import type { Queryable } from '../kit/db.ts';
import type { ListReader } from '../kit/list-reader.ts';
import type { SearchPlaces } from '../kit/search-places.ts';
import type { EndpointContext } from './endpoint.ts';
import type { ResendContext } from './resend-event.ts';

/** What the routes of endpoints and events work with. */
export interface WebhookRouteContext extends EndpointContext, ResendContext {
  db: Queryable;
  lists: ListReader;
  /** Places for what sends many events again. */
  bulkResends: SearchPlaces;
}
