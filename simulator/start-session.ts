import { createHash } from 'node:crypto';
import { randomBase62 } from '../server/src/kit/base62.ts';
import type { Transaction } from '../server/src/kit/db.ts';
import type { Random } from '../server/src/kit/random.ts';
import type { Alongside, SimulatorContext } from './context.ts';
import { findOutage, findSessionByReference, insertSession, upsertOutage } from './queries.ts';
import { randomIdLength } from './record-id.ts';
import { fixedCode, planScenario, scenarioOf, type Scenario } from './scenarios.ts';
import { enqueueSessionNotifications } from './enqueue-notifications.ts';
import { codeAttemptsMax, codeLength, sessionAt, type Session } from './session.ts';
import type { StartRequest } from './start-request.ts';

export type StartResult =
  | { kind: 'session'; session: Session }
  /** Accepted, but the caller gets no response. */
  | { kind: 'silent' }
  /** The reference belongs to another request. */
  | { kind: 'conflict' }
  /** The network is down; nothing was created. */
  | { kind: 'not_accepted' };

/**
 * Starts a collection, or returns the one that the same request started before. The row holds the whole scenario, so every
 * later state follows from it in any process.
 */
export function startSession(
  context: SimulatorContext,
  request: StartRequest,
  alongside: Alongside<Session> = () => {},
): Promise<StartResult> {
  const { account, network, reference, payerNumber } = request;
  const key = { account, network: network.id, reference };
  const outageKey = payerNumber === null ? null : { account, network: network.id, payerNumber };
  const start = async (tx: Transaction): Promise<StartResult> => {
    const now = context.clock.now();
    const [existing, outage] = await Promise.all([
      findSessionByReference(tx, key),
      outageKey === null ? undefined : findOutage(tx, outageKey),
    ]);
    if (existing) return repeatedStart(existing, request, now);
    if (outage && (outage.endsAt === null || outage.endsAt > now)) return { kind: 'not_accepted' };
    const scenario = scenarioOf(payerNumber);
    if (scenario === 'network_down' && outageKey !== null) {
      tx.send(upsertOutage(outageKey, { beganAt: now, endsAt: null }));
      return { kind: 'not_accepted' };
    }
    const { session, notifications } = newSession(context.random, request, { scenario, now });
    if ((await tx.run(insertSession(session))) === 0) {
      const first = await findSessionByReference(tx, key);
      return first ? repeatedStart(first, request, now) : { kind: 'conflict' };
    }
    alongside(tx, session);
    enqueueSessionNotifications(tx, context, session, notifications, 'start');
    return startResult(session, now);
  };
  return context.sharedCommits.run(`${account} ${network.id}`, start, { row: reference });
}

function newSession(random: Random, request: StartRequest, start: { scenario: Scenario; now: Date }) {
  const { scenario, now } = start;
  const { network, account, amountMinor, expiresAt, ...details } = request;
  const plan = planScenario(scenario, { network, amountMinor, now, expiresAt });
  const session: Session = {
    ...details,
    ...plan.fields,
    account,
    id: account + randomBase62(random, randomIdLength),
    network: network.id,
    fingerprint: fingerprint(request),
    amountMinor,
    code: plan.fields.shape === 'code' || scenario === 'ask_for_code' ? newCode(random, scenario) : null,
    codeAttemptsLeft: BigInt(codeAttemptsMax),
    transactionId: `T${randomBase62(random, randomIdLength)}`,
    approvedAt: null,
    reversedAt: null,
    createdAt: now,
    expiresAt,
  };
  return { session, notifications: plan.notifications };
}

function newCode(random: Random, scenario: Scenario): string {
  if (scenario === 'ask_for_code') return fixedCode;
  const digits = Buffer.from(random.bytes(4)).readUInt32BE() % 10 ** codeLength;
  return String(digits).padStart(codeLength, '0');
}

function repeatedStart(session: Session, request: StartRequest, now: Date): StartResult {
  return session.fingerprint === fingerprint(request) ? startResult(session, now) : { kind: 'conflict' };
}

function startResult(session: Session, now: Date): StartResult {
  return session.visibleAt > now ? { kind: 'silent' } : { kind: 'session', session: sessionAt(session, now) };
}

/** Equal for equivalent requests: `450` and `450.00`, an old and a new form of one number. */
function fingerprint(request: StartRequest): string {
  const { amountMinor, currency, payerNumber, description, expiresAt, returnUrl, callbackUrl } = request;
  const significantFields = [
    amountMinor.toString(),
    currency,
    payerNumber,
    description,
    expiresAt.toISOString(),
    returnUrl,
    callbackUrl,
  ];
  return createHash('sha256').update(JSON.stringify(significantFields)).digest('hex');
}
