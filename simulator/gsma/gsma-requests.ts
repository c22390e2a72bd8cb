import { addMs, type Clock } from '../../server/src/kit/clock.ts';
import type { Database, Statement } from '../../server/src/kit/db.ts';
import { GatheringDatabase } from '../../server/src/kit/gathering-database.ts';
import { isUuid, stableUuid } from '../../server/src/kit/ids.ts';
import { formatAmount } from '../../server/src/kit/money.ts';
import type { RefundStart } from '../refunds/start-refund.ts';
import type { Simulator } from '../simulator.ts';
import type { StartResult } from '../start-session.ts';
import { GsmaError, reversalError } from './error.ts';
import {
  countGsmaPoll,
  findGsmaRequest,
  insertGsmaRequest,
  listUnrequestedRecords,
  type GsmaRequest,
} from './queries.ts';
import {
  checkReference,
  readMoney,
  readNumber,
  type GsmaCaller,
  type RequestHeaders,
  type ReversalBody,
  type TransactionBody,
} from './request.ts';
import { pollLimitOf, type Subject } from './resources.ts';

/** How a request was received. */
export type StartedRequest =
  | { kind: 'accepted'; request: GsmaRequest; subject: Subject }
  /** The key or the reference was used before. */
  | { kind: 'duplicate' }
  /** Accepted, but the caller gets no response. */
  | { kind: 'silent' }
  | { kind: 'unavailable' }
  | { kind: 'float_empty' }
  | { kind: 'refused'; error: GsmaError };

/** What the provider keeps of the requests that it received, above the simulator's own sessions and payouts. */
export type GsmaRequests = ReturnType<typeof createGsmaRequests>;

export interface FoundRequest {
  request: GsmaRequest;
  subject: Subject;
}

export interface GsmaRequestsOptions {
  db: Database;
  clock: Clock;
  /** How long a payer may take: the API has no way to say it. */
  approvalWindowMs: number;
}

export function createGsmaRequests(
  simulator: Simulator,
  { db: ungathered, clock, approvalWindowMs }: GsmaRequestsOptions,
) {
  const db = new GatheringDatabase(ungathered);
  const { payouts } = simulator;
  const subjectOf = (request: GsmaRequest) => findSubject(simulator, request);
  const found = async (request: GsmaRequest | undefined): Promise<FoundRequest | undefined> => {
    const subject = request && (await subjectOf(request));
    return subject && { request, subject };
  };
  const start = (caller: GsmaCaller, headers: RequestHeaders, run: Run) =>
    startOnce({ db, subjectOf }, { ...caller, ...headers }, run);
  return {
    collect: async (caller: GsmaCaller, headers: RequestHeaders, body: TransactionBody) => {
      const request = { ...requestOf(caller, headers, body, 'collections'), ...payerOf(body) };
      const details = { ...request, expiresAt: addMs(clock.now(), approvalWindowMs), returnUrl: '' };
      return start(caller, headers, (write) =>
        simulator.start(details, (tx, session) => tx.send(write({ operation: 'collection', session }))),
      );
    },
    payOut: async (caller: GsmaCaller, headers: RequestHeaders, body: TransactionBody) => {
      const request = { ...requestOf(caller, headers, body, 'payouts'), ...beneficiaryOf(body) };
      const details = { ...request, beneficiaryName: null, refundedTransactionId: null };
      return start(caller, headers, (write) =>
        payouts.start(details, (tx, payout) => tx.send(write({ operation: 'payout', payout }))),
      );
    },
    reverse: async (caller: GsmaCaller, headers: RequestHeaders, body: ReversalBody & { transactionId: string }) => {
      const { account, network } = caller;
      const { transactionId, amount, currency } = body;
      const session = await simulator.findByTransaction({ account, network: network.id, transactionId });
      // Without an amount, the whole transaction is reversed.
      const money = {
        amount: amount ?? formatAmount(session?.amountPaidMinor ?? 1n, { style: 'plain' }),
        currency: currency ?? 'GMD',
      };
      const details = { ...requestOf(caller, headers, { ...body, ...money }, 'payouts'), transactionId };
      return start(caller, headers, (write) =>
        simulator.refund(details, (tx, payout) => tx.send(write({ operation: 'payout', payout }))),
      );
    },
    /** By the client's key. */
    find: async (caller: GsmaCaller, correlationId: string) => {
      if (!isUuid(correlationId)) return undefined;
      const known = await findGsmaRequest(db, { account: caller.account, correlationId });
      return found(known ?? (await adoptRecord(db, caller, correlationId)));
    },
    /** By the provider's id; counts a poll. */
    poll: async ({ account }: GsmaCaller, serverId: string) =>
      isUuid(serverId) ? found(await countGsmaPoll(db, { account, serverId })) : undefined,
    findByTransaction: async (
      { account, network }: GsmaCaller,
      transactionId: string,
    ): Promise<Subject | undefined> => {
      if (!/^[0-9A-Za-z]{1,64}$/.test(transactionId)) return undefined;
      const key = { account, network: network.id, transactionId };
      const session = await simulator.findByTransaction(key);
      if (session) return { operation: 'collection', session };
      const payout = await payouts.findByTransaction(key);
      return payout && { operation: 'payout', payout };
    },
  };
}

// More than a tester has under way while an upgrade rolls.
const adoptedMax = 1_000;

/**
 * A record of a release before this wire has no request. Our connector derives the key from the reference, so the record that it
 * means can be found; it is known by the key from then on.
 */
async function adoptRecord(
  db: Database,
  { account, network: { id: network } }: GsmaCaller,
  correlationId: string,
): Promise<GsmaRequest | undefined> {
  const records = await listUnrequestedRecords(db, { account, network, rowsMax: adoptedMax });
  const meant = records.find(({ reference }) => stableUuid('gsma', reference) === correlationId);
  if (!meant) return undefined;
  const { operation, subjectId } = meant;
  const serverId = serverIdOf({ account, correlationId });
  const adopted = { account, correlationId, serverId, network, operation, subjectId, pollLimit: null };
  await db.run(insertGsmaRequest(adopted));
  return { ...adopted, polls: 0n };
}

function serverIdOf({ account, correlationId }: { account: string; correlationId: string }): string {
  return stableUuid('gsma request', account, correlationId);
}

async function findSubject(
  simulator: Simulator,
  { account, network, operation, subjectId }: GsmaRequest,
): Promise<Subject | undefined> {
  if (operation === 'collection') {
    const session = await simulator.find({ account, network, sessionId: subjectId });
    return session && { operation, session };
  }
  const payout = await simulator.payouts.findPayoutOrRefund({ account, network, payoutId: subjectId });
  return payout && { operation, payout };
}

/** Starts a request in the simulator, and writes its row in the same transaction. */
type Run = (write: (subject: Subject) => Statement) => Promise<StartResult | RefundStart>;

async function startOnce(
  { db, subjectOf }: { db: Database; subjectOf: (request: GsmaRequest) => Promise<Subject | undefined> },
  { account, network, correlationId }: GsmaCaller & RequestHeaders,
  run: Run,
): Promise<StartedRequest> {
  const known = await findGsmaRequest(db, { account, correlationId });
  if (known) return { kind: (await subjectOf(known)) ? 'duplicate' : 'silent' };
  let created: FoundRequest | undefined;
  const result = await run((subject) => {
    const request = newRequest({ account, correlationId, network: network.id }, subject);
    created = { request, subject };
    return insertGsmaRequest(request);
  });
  if (result.kind !== 'session' && result.kind !== 'payout') return refusalOf(result);
  // Without a new row the reference was used before, with another key.
  return created === undefined
    ? { kind: 'duplicate' }
    : { kind: 'accepted', request: created.request, subject: startedSubject(result) };
}

function newRequest(key: { account: string; correlationId: string; network: string }, subject: Subject): GsmaRequest {
  const { operation } = subject;
  return {
    ...key,
    serverId: serverIdOf(key),
    operation,
    subjectId: operation === 'collection' ? subject.session.id : subject.payout.id,
    pollLimit: pollLimitOf(subject),
    polls: 0n,
  };
}

function startedSubject(result: Extract<StartResult | RefundStart, { kind: 'session' | 'payout' }>): Subject {
  return result.kind === 'session'
    ? { operation: 'collection', session: result.session }
    : { operation: 'payout', payout: result.payout };
}

function refusalOf(result: Exclude<StartResult | RefundStart, { kind: 'session' | 'payout' }>): StartedRequest {
  switch (result.kind) {
    case 'silent':
    case 'float_empty':
      return { kind: result.kind };
    case 'conflict':
      return { kind: 'duplicate' };
    case 'not_accepted':
      return { kind: 'unavailable' };
    case 'refused':
      return { kind: 'refused', error: reversalError(result.code, result.message) };
  }
}

/** The part of a request that all have. Throws GsmaError. */
function requestOf(
  { account, network }: GsmaCaller,
  { callbackUrl }: RequestHeaders,
  body: TransactionBody | (ReversalBody & { amount: string; currency: string }),
  operation: 'collections' | 'payouts',
) {
  if (network.wires[operation] !== 'gsma') {
    throw new GsmaError('businessRule', 'transactionTypeError', 'The institution does not offer this type.');
  }
  const { requestingOrganisationTransactionReference: reference, descriptionText: description = '', currency } = body;
  checkReference(account, reference);
  return { network, account, reference, amountMinor: readMoney(body), currency, description, callbackUrl };
}

function payerOf({ debitParty }: TransactionBody): { payerNumber: string; payerNumberAsSent: string } {
  const { number, asSent } = readNumber(debitParty, 'debitParty');
  return { payerNumber: number, payerNumberAsSent: asSent };
}

function beneficiaryOf({ creditParty }: TransactionBody) {
  const { number, asSent } = readNumber(creditParty, 'creditParty');
  return { beneficiaryNumber: number, beneficiaryNumberAsSent: asSent };
}
