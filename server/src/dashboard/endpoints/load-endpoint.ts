import { endpointWithHealthSchema } from '../../webhooks/wire-schemas.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import type { Visit } from '../visit.ts';
import type { ShownEndpoint } from './endpoint-state.ts';

/** Throws AppError `not_found`. */
export function loadEndpoint({ api, caller, requestId }: Visit, { params }: PageInput): Promise<ShownEndpoint> {
  const call = { caller, requestId, params: { id: params['id'] ?? '' } };
  return api.call('retrieveWebhookEndpoint', endpointWithHealthSchema, call);
}
