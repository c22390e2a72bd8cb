import type { FastifyInstance } from 'fastify';
import { hidden } from '../route-options.ts';
import type { Payout } from '../payouts/payout.ts';
import type { PayoutAddress } from '../payouts/simulated-payouts.ts';
import { readBatchRequest, readPayoutRequest } from './payout-request.ts';
import type { WaveRoutesContext } from './context.ts';
import { notFound, serviceUnavailable, WaveError } from './wave-error.ts';
import { batchIdPrefix, payoutErrors, payoutIdPrefix, wireBatch, wirePayout, type WirePayout } from './wire-payout.ts';

/** Send and look up; no webhook says how a payout ended. */
export function addPayoutRoutes(server: FastifyInstance, context: WaveRoutesContext): void {
  const { simulator, network, unanswered } = context;

  server.post('/v1/payout', hidden, async (req, reply) => {
    const { account, body } = context.read(req);
    const key = req.headers['idempotency-key'];
    const request = readPayoutRequest(body, { key, network, account, webhookUrl: context.webhookUrl() });
    const result = await simulator.payouts.start(request);
    switch (result.kind) {
      case 'payout':
        return sentPayout(result.payout);
      case 'silent':
        unanswered.keepOpen(reply);
        return reply;
      case 'conflict':
        throw new WaveError(409, 'idempotency-mismatch', 'The key was used for another request.');
      case 'not_accepted':
        throw serviceUnavailable();
      case 'float_empty':
        throw new WaveError(422, 'insufficient-funds', 'The wallet has too little money.');
    }
  });

  server.get<{ Params: { id: string } }>('/v1/payout/:id', hidden, async (req) => {
    const { account } = context.read(req);
    const payout = await simulator.payouts.find(
      addressOf(context, account, withoutPrefix(payoutIdPrefix, req.params.id)),
    );
    if (!payout) throw notFound('not-found');
    return wirePayout(payout);
  });

  server.get<{ Querystring: { client_reference?: unknown } }>('/v1/payouts/search', hidden, async (req) => {
    const { account } = context.read(req);
    const { client_reference: sought } = req.query;
    const reference = typeof sought === 'string' ? sought : '';
    const found = await simulator.payouts.search({ account, network: network.id, reference });
    return { result: found.map(wirePayout) };
  });

  server.post('/v1/payout-batch', hidden, async (req, reply) => {
    const { account, body } = context.read(req);
    const key = req.headers['idempotency-key'];
    const request = readBatchRequest(body, { key, network, account, webhookUrl: context.webhookUrl() });
    const result = await simulator.payouts.startBatch(request);
    switch (result.kind) {
      case 'batch':
        return { id: batchIdPrefix + result.batch.id };
      case 'silent':
        unanswered.keepOpen(reply);
        return reply;
      case 'conflict':
        throw new WaveError(409, 'idempotency-mismatch', 'The key was used for another request.');
    }
  });

  server.get<{ Params: { id: string } }>('/v1/payout-batch/:id', hidden, async (req) => {
    const { account } = context.read(req);
    const address = addressOf(context, account, withoutPrefix(batchIdPrefix, req.params.id));
    const batch = await simulator.payouts.findBatch(address);
    if (!batch) throw notFound('not-found');
    return wireBatch(batch);
  });
}

/** A payout that fails at once is an error; one that fails later is a failed payout. */
function sentPayout(payout: Payout): WirePayout {
  if (payout.status !== 'failed' || payout.failureCode === null) return wirePayout(payout);
  const { code, message } = payoutErrors[payout.failureCode];
  throw new WaveError(422, code, message);
}

function addressOf({ network }: WaveRoutesContext, account: string, payoutId: string): PayoutAddress {
  return { account, network: network.id, payoutId };
}

function withoutPrefix(prefix: string, id: string): string {
  return id.startsWith(prefix) ? id.slice(prefix.length) : id;
}
