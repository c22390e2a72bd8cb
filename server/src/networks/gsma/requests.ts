import type { LookUp } from '../contract.ts';
import { correlationId, type GsmaClient, type GsmaPost } from './client.ts';
import {
  pollLimitHandle,
  readLink,
  readLookUp,
  readStart,
  requestHandle,
  transactionHandle,
  type Outcome,
  type ReplyContext,
} from './translate.ts';

export interface RequestContext extends ReplyContext {
  client: GsmaClient;
}

/** Sends a request, and finds out at once what a provider that wants to be polled knows already. */
export async function sendRequest(context: RequestContext, request: Omit<GsmaPost, 'reference'>): Promise<Outcome> {
  const { reference } = context;
  const outcome = readStart(await context.client.post({ ...request, reference }), context);
  switch (outcome.kind) {
    case 'duplicate': {
      const original = await findByCorrelationId(context);
      // The provider has just said that it knows the request.
      return original.kind === 'not_found'
        ? { kind: 'unknown', detail: 'the original request is not found' }
        : original;
    }
    case 'completed':
      return findCompleted(context, outcome.transactionReference);
    case 'pending':
      return outcome.mustPoll ? pollAtOnce(context, outcome) : outcome;
    default:
      return outcome;
  }
}

/**
 * By the transaction's id, else the state of the request, else our own key, as after a response that was lost. A provider says how
 * often the state may be polled (`pollLimit`): each look-up on schedule is one poll, after the one at once. Beyond that, and out
 * of turn, our own key finds the transaction once there is one, and the state stays unread.
 */
export async function lookUpRequest(
  context: RequestContext,
  { handles, earlierLookUps }: Pick<LookUp, 'handles' | 'earlierLookUps'>,
): Promise<Outcome> {
  const transaction = handles[transactionHandle];
  if (transaction !== undefined) return findTransaction(context, transaction);
  const request = handles[requestHandle];
  if (request === undefined) return findByCorrelationId(context);
  const limit = handles[pollLimitHandle];
  if (limit === undefined || (earlierLookUps !== undefined && earlierLookUps + 1 < Number(limit))) {
    return pollState(context, request);
  }
  const link = await readOwnLink(context);
  if ('outcome' in link) return link.outcome;
  return link.path.startsWith('/transactions/')
    ? findLinked(context, link.path)
    : { kind: 'pending', networkReference: request, handles, mustPoll: false };
}

async function pollAtOnce(context: RequestContext, pending: Outcome & { kind: 'pending' }): Promise<Outcome> {
  const polled = await pollState(context, pending.networkReference);
  // A poll that fails takes nothing back: the provider has accepted the request.
  return polled.kind === 'unknown' || polled.kind === 'not_found' ? pending : polled;
}

async function pollState(context: RequestContext, request: string): Promise<Outcome> {
  const reply = await context.client.get(`/requeststates/${encodeURIComponent(request)}`, context.reference);
  const outcome = readLookUp(reply, context);
  return outcome.kind === 'completed' ? findCompleted(context, outcome.transactionReference) : outcome;
}

function findCompleted(context: RequestContext, transaction: string | null): Promise<Outcome> {
  return transaction === null ? findByCorrelationId(context) : findTransaction(context, transaction);
}

async function findTransaction(context: RequestContext, transaction: string): Promise<Outcome> {
  const path = `/transactions/${encodeURIComponent(transaction)}`;
  const outcome = readLookUp(await context.client.get(path, context.reference), context);
  // The provider has named this transaction before.
  return outcome.kind === 'not_found' ? { kind: 'unknown', detail: 'a known transaction is not found' } : outcome;
}

async function findByCorrelationId(context: RequestContext): Promise<Outcome> {
  const link = await readOwnLink(context);
  return 'outcome' in link ? link.outcome : findLinked(context, link.path);
}

async function readOwnLink({ client, reference }: RequestContext) {
  return readLink(await client.get(`/responses/${correlationId(reference)}`, reference));
}

async function findLinked(context: RequestContext, path: string): Promise<Outcome> {
  const outcome = readLookUp(await context.client.get(path, context.reference), context);
  if (outcome.kind === 'not_found') return { kind: 'unknown', detail: 'a linked resource is not found' };
  return outcome.kind === 'completed' && outcome.transactionReference !== null
    ? findTransaction(context, outcome.transactionReference)
    : outcome;
}
