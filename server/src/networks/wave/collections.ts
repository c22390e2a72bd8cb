import { dalasi } from '../../kit/money.ts';
import type { JsonObject } from '../../kit/strict-json.ts';
import type { CollectionOperations, CollectionResponse, LookUp, StartCollection } from '../contract.ts';
import { refused, unknown } from '../response-values.ts';
import { waveError } from './errors.ts';
import { findReversal } from './statement.ts';
import {
  foundSessions,
  isSuccess,
  readSession,
  sessionIdHandle,
  sessionResponse,
  startResponse,
  type SessionContext,
} from './translate.ts';
import { waveAmount, waveNumber, type WaveRail } from './wave-rail.ts';

const sessionsPath = '/v1/checkout/sessions';

/** Checkout sessions: the payer opens a link and pays in the app. */
export function collectionOperations(rail: WaveRail): CollectionOperations {
  const { collections, amounts } = rail.options;
  const lookUp = (request: LookUp): Promise<CollectionResponse> =>
    request.hasSucceeded === true ? lookForReversal(rail, request) : lookUpSession(rail, request);
  return {
    capabilities: {
      ...collections,
      ...{ shape: 'redirect', numberRequired: false, canCancel: true, decidesExpiry: true, reversalsElsewhere: true },
      amountStepMinor: amounts === 'whole' ? dalasi : 1n,
    },
    start: (request) => start(rail, request),
    // The payer approves in the app, so there is nothing to continue with.
    continue: lookUp,
    cancel: (request) => cancel(rail, request),
    lookUp,
  };
}

async function start(rail: WaveRail, request: StartCollection): Promise<CollectionResponse> {
  const { reference } = request;
  const body = sessionBody(rail, request);
  return startResponse(
    await rail.client.post({ pool: 'collections', path: sessionsPath, reference, body }),
    contextOf(rail, request),
  );
}

function sessionBody(rail: WaveRail, request: StartCollection): Record<string, string> {
  const { amountMinor, currency, reference, returnUrl, payerNumber } = request;
  const isRestricted = rail.options.restrictPayer && payerNumber !== null;
  return {
    ...{ amount: waveAmount(amountMinor), currency, client_reference: reference },
    ...{ success_url: returnUrl, error_url: returnUrl },
    ...(isRestricted ? { restrict_payer_mobile: waveNumber(rail, payerNumber) } : {}),
  };
}

/** By the session's id; where the creation had no response, by our reference. */
async function lookUpSession(rail: WaveRail, request: LookUp): Promise<CollectionResponse> {
  const id = request.handles[sessionIdHandle];
  if (id === undefined) return (await search(rail, request)).response;
  return sessionResponse(await rail.client.get(pathOf(id), request.reference), contextOf(rail, request));
}

/** A session that our reference found; `session` is null where there is none, or no clear response. */
interface Search {
  session: JsonObject | null;
  response: CollectionResponse;
}

/**
 * Wave does not refuse a second session with our reference, so there may be several after a lost response. Only one may be paid:
 * the one that was paid, or else the first. The others are expired; if one was paid all the same, its webhook says so.
 */
async function search(rail: WaveRail, request: LookUp): Promise<Search> {
  const path = `${sessionsPath}/search?client_reference=${encodeURIComponent(request.reference)}`;
  const reply = await rail.client.get(path, request.reference);
  const sessions = foundSessions(reply);
  if (!sessions) return { session: null, response: unknownSearch(sessionResponse(reply, contextOf(rail, request))) };
  const [session = null] = sessions.toSorted((one, other) => rankOf(one) - rankOf(other));
  if (session === null) return { session, response: { state: 'not_found' } };
  const others = sessions.filter((other) => other !== session && other['checkout_status'] === 'open');
  const spare = others.map(({ id }) => id).filter((id) => typeof id === 'string');
  await Promise.all(spare.map((id) => expire(rail, request, id)));
  return { session, response: readSession(session, contextOf(rail, request)) };
}

/** A search that finds nothing has an empty result, so any other response says nothing. */
function unknownSearch(response: CollectionResponse): CollectionResponse {
  return response.state === 'unknown' ? response : unknown('the response to the search is not as documented');
}

function rankOf({ checkout_status: status }: JsonObject): number {
  if (status === 'complete') return 0;
  return status === 'open' ? 1 : 2;
}

/** Expires the session, and looks once more: the payer may have been faster. */
async function cancel(rail: WaveRail, request: LookUp): Promise<CollectionResponse> {
  const found = request.handles[sessionIdHandle] === undefined ? await search(rail, request) : null;
  const id = found ? found.session?.['id'] : request.handles[sessionIdHandle];
  if (typeof id !== 'string') return found?.response ?? { state: 'not_found' };
  const reply = await expire(rail, request, id);
  if (reply.kind !== 'response') return unknown(reply.detail);
  const hasEnded = isSuccess(reply) || reply.status === 409;
  if (!hasEnded) return waveError(reply) === 'not_found' ? { state: 'not_found' } : unknown(`HTTP ${reply.status}`);
  const response = sessionResponse(await rail.client.get(pathOf(id), request.reference), contextOf(rail, request));
  const isOurs = isSuccess(reply) && response.state === 'refused';
  return isOurs ? refused('cancelled', 'The payment was cancelled before it was approved.') : response;
}

function expire(rail: WaveRail, { reference }: LookUp, id: string) {
  return rail.client.post({ pool: 'collections', path: `${pathOf(id)}/expire`, reference });
}

/** A session stays complete when its payment is reversed; the day's transactions tell. */
async function lookForReversal(rail: WaveRail, request: LookUp): Promise<CollectionResponse> {
  const response = await lookUpSession(rail, request);
  if (response.state !== 'succeeded') return response;
  const { networkReference: sessionId } = response.providerTransaction;
  const now = rail.clock.now();
  const reversal = await findReversal(rail.client, {
    reference: request.reference,
    sessionId,
    type: 'api_checkout',
    now,
  });
  if (reversal === undefined) return unknown('the day’s transactions are not as documented');
  return reversal === null ? response : { ...response, state: 'reversed', reversalId: reversal.transactionId };
}

function contextOf({ options }: WaveRail, { reference }: { reference: string }): SessionContext {
  return { reference, options };
}

function pathOf(id: string): string {
  return `${sessionsPath}/${encodeURIComponent(id)}`;
}
