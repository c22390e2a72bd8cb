import type { FastifyRequest } from 'fastify';
import { AppError } from '../api/app-error.ts';
import type { Clock } from '../kit/clock.ts';
import { sqlState } from '../kit/db.ts';
import type { Database, Transaction } from '../kit/db.ts';
import { SealError } from '../kit/seal.ts';
import type { Sealer } from '../kit/seal.ts';
import { headerCount } from './header-count.ts';
import { findKey, insertKeyOnce, updateKeyResponse } from './queries.ts';
import type { KeyAddress } from './queries.ts';

interface RouteResponse {
  statusCode: number;
  body: string;
}

export interface ReplayableResponse extends RouteResponse {
  replayed: boolean;
}

export interface IdempotencyContext {
  db: Database;
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

/** How a key is used on a route where it must never do anything twice. */
export interface PermanentReplay {
  /** The id of what an answer tells of. */
  subjectOf: (result: RouteResponse) => string;
  /** The answer about what the key made, once its own is no longer kept or cannot be opened. */
  replay: (subjectId: string) => Promise<RouteResponse>;
}

const keyLengthMax = 255;

/**
 * The request's `Idempotency-Key`, or null where none was sent. Throws AppError `idempotency_key_invalid` for one that
 * is empty, too long, sent twice or not plain text, and for a missing one where the route needs it.
 */
export function readIdempotencyKey(request: FastifyRequest, required: boolean): string | null {
  const sent = headerCount(request, 'idempotency-key');
  const key = request.headers['idempotency-key'];
  if (sent === 0) {
    if (!required) return null;
    throw refuse('Send an Idempotency-Key header, for example a UUID, so that a repetition cannot pay twice.');
  }
  if (sent > 1 || typeof key !== 'string') throw refuse('Send one Idempotency-Key header, not several.');
  if (key.length === 0 || key.length > keyLengthMax || !/^[\x20-\x7e]+$/.test(key)) {
    throw refuse(`Idempotency-Key has 1 to ${keyLengthMax} plain characters, for example a UUID.`);
  }
  return key;
}

/**
 * Runs a request at most once for its key. The key is inserted first in the transaction of the effect, so that either
 * both are there or neither; whoever comes second waits for the first, a second at most, and gets its answer. A refusal
 * that followed from the state of things undoes the effect and is remembered all the same.
 */
export async function runOnce(
  context: IdempotencyContext,
  use: KeyUse,
  effect: (tx: Transaction) => Promise<RouteResponse>,
  {
    errorResponse,
    permanentReplay,
  }: { errorResponse: (refusal: AppError) => RouteResponse; permanentReplay?: PermanentReplay },
): Promise<ReplayableResponse> {
  const once = (
    produce: (tx: Transaction) => Promise<RouteResponse>,
    subjectOf?: PermanentReplay['subjectOf'],
  ): Promise<ReplayableResponse | { subjectId: string }> =>
    context.db.withTransaction(async (tx) => {
      const stored = await claimKey(tx, context, use);
      if (stored) return stored;
      const result = await produce(tx);
      const response = context.sealer.seal(result.body, sealContext(use));
      const subjectId = subjectOf?.(result) ?? null;
      tx.send(updateKeyResponse(use, { statusCode: result.statusCode, response, subjectId }));
      return { ...result, replayed: false };
    }, use);
  const outcome = await once(effect, permanentReplay?.subjectOf).catch((error: unknown) => {
    if (!(error instanceof AppError) || !error.isStored) throw error;
    return once(() => Promise.resolve(errorResponse(error)));
  });
  if (!('subjectId' in outcome)) return outcome;
  if (!permanentReplay) throw new Error('only keys that are kept for ever have a subject');
  return { ...(await permanentReplay.replay(outcome.subjectId)), replayed: true };
}

/** Null when the key is new; else the first request's answer, or what it made when that is no longer kept or cannot be opened. */
async function claimKey(
  tx: Transaction,
  context: IdempotencyContext,
  use: KeyUse,
): Promise<ReplayableResponse | { subjectId: string } | null> {
  try {
    if ((await insertKeyOnce(tx, { ...use, createdAt: context.clock.now() })) === 1) return null;
  } catch (error) {
    if (sqlState(error) !== '55P03') throw error;
    const message = 'The first request with this Idempotency-Key is still running. Send it again in a second.';
    throw new AppError('idempotency_in_progress', message, { retryAfterSeconds: 1, cause: error });
  }
  const stored = await findKey(tx, use);
  const isSameRequest = [use.fingerprint, use.fingerprintAsSent].some((known) => stored?.fingerprint.equals(known));
  if (!stored || !isSameRequest) {
    const message = 'This Idempotency-Key was used for another request. Use a new key for a new request.';
    throw new AppError('idempotency_key_reused', message);
  }
  if (stored.statusCode === null || stored.response === null) {
    if (stored.subjectId !== null) return { subjectId: stored.subjectId };
    const message = 'This Idempotency-Key was used, and its answer is no longer kept. Use a new key.';
    throw new AppError('idempotency_key_reused', message);
  }
  try {
    const body = context.sealer.open(stored.response, sealContext(use)).toString('utf8');
    return { statusCode: Number(stored.statusCode), body, replayed: true };
  } catch (error) {
    // What the key made can still be told, also when the key that sealed the answer is lost.
    if (error instanceof SealError && stored.subjectId !== null) return { subjectId: stored.subjectId };
    throw unreadableResponse(error);
  }
}

/** A process that was started with the missing key can answer. */
function unreadableResponse(error: unknown): unknown {
  if (!(error instanceof SealError) || error.reason !== 'key_missing') return error;
  const message = 'The service cannot read its first answer to this Idempotency-Key just now. Try again in a second.';
  return new AppError('unavailable', message, { retryAfterSeconds: 1, cause: error });
}

/** Bound to its row, so that an answer moved to another merchant's row does not open. */
export function sealContext(use: KeyAddress): string {
  return `idempotency ${use.merchantId} ${use.path} ${use.key}`;
}

function refuse(message: string): AppError {
  return new AppError('idempotency_key_invalid', message);
}
