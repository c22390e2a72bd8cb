import type { FastifyRequest } from 'fastify';
import { AppError } from '../api/app-error.ts';
import type { Clock } from '../kit/clock.ts';
import { isConnectionLost, sqlState } from '../kit/db-errors.ts';
import type { Transaction } from '../kit/db.ts';
import type { Transact } from '../kit/shared-commits.ts';
import type { Claim, Claimed } from '../kit/shared-transaction.ts';
import { isSealKeyLost } from '../keyring/keyring.ts';
import { SealError, keyIdOfSealed, type Sealer } from '../kit/seal.ts';
import { findKey, findKeyStatement, insertKey, insertKeyOnce, updateKeyResponse, type KeyAddress } from './queries.ts';
import { headerCount } from './read-request.ts';

interface RouteResponse {
  statusCode: number;
  body: string;
}

export interface ReplayableResponse extends RouteResponse {
  replayed: boolean;
}

export interface IdempotencyContext {
  clock: Clock;
  sealer: Sealer;
}

interface KeyUse extends KeyAddress {
  /** The request that uses it now. */
  requestId: string;
  fingerprint: Buffer;
  /** The fingerprint with every default that was spelled out: what keys of the first release have stored. */
  fingerprintAsSent: Buffer;
}

/** For a route whose keys are kept for ever, so that none of them pays out twice. */
export interface PermanentReplay {
  /** The id of the record that the response shows. */
  subjectOf: (result: RouteResponse) => string;
  /** Shows that record as it is now, once the stored response has expired or cannot be opened. */
  replay: (subjectId: string) => Promise<RouteResponse>;
}

const keyLengthMax = 255;

/**
 * The request's `Idempotency-Key`, or null if it has none. Throws AppError `idempotency_key_invalid` for a key that is
 * empty, too long, sent twice or not plain text, and for a missing one if the route requires it.
 */
export function readIdempotencyKey(request: FastifyRequest, required: boolean): string | null {
  const sent = headerCount(request, 'idempotency-key');
  const key = request.headers['idempotency-key'];
  if (sent === 0) {
    if (!required) return null;
    throw refuse('Send an Idempotency-Key header, for example a UUID, so that a retry cannot pay twice.');
  }
  if (sent > 1 || typeof key !== 'string') throw refuse('Send one Idempotency-Key header, not several.');
  if (key.length === 0 || key.length > keyLengthMax || !/^[\x20-\x7e]+$/.test(key)) {
    throw refuse(`Idempotency-Key has 1 to ${keyLengthMax} plain characters, for example a UUID.`);
  }
  return key;
}

/**
 * Runs a request at most once for its key. The transaction of the effect inserts the key first, so that both are committed or
 * neither is. A second request waits at most one second for the first and gets its response. A business refusal rolls the
 * effect back, and its response is stored. When the connection to the database is lost, it runs once more: the commit may have
 * happened, which the key shows.
 */
export async function runOnce(
  context: IdempotencyContext,
  use: KeyUse,
  effect: (tx: Transaction) => Promise<RouteResponse>,
  {
    transact,
    errorResponse,
    permanentReplay,
    forgetsRefusals = false,
  }: {
    transact: Transact;
    errorResponse: (refusal: AppError) => RouteResponse;
    permanentReplay?: PermanentReplay;
    /** A business refusal is not stored: the same request is tried again. */
    forgetsRefusals?: boolean | undefined;
  },
): Promise<ReplayableResponse> {
  const createdAt = context.clock.now();
  const options = { requestId: use.requestId, claim: claimOf({ ...use, createdAt }) };
  // What is then found under the key is this request's own.
  let hasResult = false;
  const run = (
    produce: (tx: Transaction) => Promise<RouteResponse>,
    subjectOf?: PermanentReplay['subjectOf'],
  ): Promise<ReplayableResponse | { subjectId: string }> =>
    transact(async (tx, claim) => {
      const claimed = await claimKey(claim);
      if (claimed === 'used') return { ...(await readStored(tx, context, use)), ...(hasResult && { replayed: false }) };
      const result = await produce(tx);
      hasResult = true;
      const response = context.sealer.seal(result.body, sealContext(use));
      const subjectId = subjectOf?.(result) ?? null;
      const stored = { statusCode: result.statusCode, response, subjectId };
      tx.send(claimed === 'inserted' ? updateKeyResponse(use, stored) : insertKey({ ...use, createdAt }, stored));
      return { ...result, replayed: false };
    }, options);
  const once: typeof run = (...change) =>
    run(...change).catch((error: unknown) => {
      if (!isConnectionLost(error)) throw error;
      return run(...change);
    });
  const outcome = await once(effect, permanentReplay?.subjectOf).catch((error: unknown) => {
    if (!(error instanceof AppError) || !error.isStored || forgetsRefusals) throw error;
    return once(() => Promise.resolve(errorResponse(error)));
  });
  if (!('subjectId' in outcome)) return outcome;
  if (!permanentReplay) throw new Error('only a key of a route with a permanent replay has a subject');
  return { ...(await permanentReplay.replay(outcome.subjectId)), replayed: true };
}

function claimOf(use: KeyUse & { createdAt: Date }): Claim {
  return { rowKey: `${use.path} ${use.key}`, insert: insertKeyOnce(use), find: findKeyStatement(use) };
}

async function claimKey(claim: () => Promise<Claimed>): Promise<Claimed> {
  try {
    return await claim();
  } catch (error) {
    if (sqlState(error) !== '55P03') throw error;
    const message = 'The first request with this Idempotency-Key is still running. Send it again in a second.';
    throw new AppError('idempotency_in_progress', message, { retryAfterSeconds: 1, cause: error });
  }
}

/** The first response or, if that has expired or cannot be opened, the id of the record it showed. */
async function readStored(
  tx: Transaction,
  context: IdempotencyContext,
  use: KeyUse,
): Promise<ReplayableResponse | { subjectId: string }> {
  const stored = await findKey(tx, use);
  const isSameRequest = [use.fingerprint, use.fingerprintAsSent].some((known) => stored?.fingerprint.equals(known));
  if (!stored || !isSameRequest) {
    const message = 'This Idempotency-Key was used for another request. Use a new key for a new request.';
    throw new AppError('idempotency_key_reused', message);
  }
  if (stored.statusCode === null || stored.response === null) {
    if (stored.subjectId !== null) return { subjectId: stored.subjectId };
    const message = 'This Idempotency-Key was used, and its response is no longer stored. Use a new key.';
    throw new AppError('idempotency_key_reused', message);
  }
  const statusCode = Number(stored.statusCode);
  try {
    const body = context.sealer.open(stored.response, sealContext(use)).toString('utf8');
    return { statusCode, body, replayed: true };
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    if (stored.subjectId !== null) return { subjectId: stored.subjectId };
    if (error.reason !== 'key_missing') throw error;
    if (await isSealKeyLost(tx, keyIdOfSealed(stored.response))) throw lostResponse(statusCode);
    // Another process, or this one once it has been restarted with the key, can open the response.
    const message = 'The service cannot read its first response to this Idempotency-Key now. Try again in a second.';
    throw new AppError('unavailable', message, { retryAfterSeconds: 1, cause: error });
  }
}

/**
 * The refusal of a retry whose first response nobody can read any more. Dalasi does not process the request anew, not even one
 * that was refused: the merchant may have sent it with a new key since, and must not pay twice.
 */
function lostResponse(statusCode: number): AppError {
  const outcome =
    statusCode >= 400
      ? 'was refused and changed nothing. Its response can no longer be read. Use a new key.'
      : 'succeeded. Its response can no longer be read. Look up what it created before you use a new key.';
  return new AppError('idempotency_key_reused', `The first request with this Idempotency-Key ${outcome}`);
}

/** Bound to its row: a response that was moved to another merchant's row does not open. */
export function sealContext(use: KeyAddress): string {
  return `idempotency ${use.merchantId} ${use.path} ${use.key}`;
}

function refuse(message: string): AppError {
  return new AppError('idempotency_key_invalid', message);
}
