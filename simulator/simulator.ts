import { GatheringDatabase } from '../server/src/kit/gathering-database.ts';
import { SharedCommits } from '../server/src/kit/shared-commits.ts';
import type { Alongside, SimulatorContext } from './context.ts';
import { enqueueSessionNotifications } from './enqueue-notifications.ts';
import {
  cancelTransition,
  codeTransition,
  confirmTransition,
  phoneTransition,
  type PhoneAction,
  type Transition,
} from './transitions.ts';
import type { Payout } from './payouts/payout.ts';
import { createSimulatedPayouts, payoutLine, type SimulatedPayouts } from './payouts/simulated-payouts.ts';
import { deletePayoutOutage, upsertPayoutOutage } from './payouts/queries.ts';
import { canonicalNumber, type PhoneLine, type PhoneQuery } from './phone-line.ts';
import { promptOf, type Prompt } from './prompt.ts';
import {
  deleteFutureCallbacks,
  deleteOutage,
  findSessionById,
  findSessionByReference,
  findSessionByTransaction,
  listSessionsByNumber,
  lockSession,
  updateSession,
  upsertOutage,
} from './queries.ts';
import { isAccount, recordKey, type ReferenceKey, type TransactionKey } from './record-id.ts';
import { startRefund, type RefundRequest, type RefundStart } from './refunds/start-refund.ts';
import { sessionAt, type Session } from './session.ts';
import type { StartRequest } from './start-request.ts';
import { createSimulatedStatements, type SimulatedStatements } from './statement/simulated-statements.ts';
import { startSession, type StartResult } from './start-session.ts';

/**
 * The simulated networks of the test environment: a third-party service with tables of its own that runs in our process.
 * All of its state is in the database, so any number of processes act as one network.
 */
export interface Simulator {
  /** The networks' API, for `simulatorRoutes`. Sessions are returned in their current state. */
  start(request: StartRequest, alongside?: Alongside<Session>): Promise<StartResult>;
  find(key: SessionAddress): Promise<Session | undefined>;
  findByReference(key: ReferenceKey): Promise<Session | undefined>;
  /** By the network's own id of the money that moved, or will. */
  findByTransaction(key: TransactionKey): Promise<Session | undefined>;
  /** If the session is still open afterwards, the code was wrong or none is expected. */
  enterCode(key: SessionAddress, code: string): Promise<Session | undefined>;
  confirm(key: SessionAddress): Promise<Session | undefined>;
  cancel(key: SessionAddress): Promise<Session | undefined>;

  /**
   * The prompts on the simulated phone of a number, newest first: open ones and the outcome of earlier ones. Throws
   * PhoneNumberError.
   */
  listPrompts(query: PhoneQuery): Promise<Prompt[]>;
  /** By the id in a launch link; undefined if there is none. */
  findPrompt(sessionId: string): Promise<Prompt | undefined>;
  /**
   * `done` is false if the session does not allow the action; `prompt.actions` lists those that it allows. Where the network asks
   * for a code on the phone, `approve` needs it.
   */
  act(sessionId: string, action: PhoneAction, code?: string): Promise<{ done: boolean; prompt: Prompt } | undefined>;

  /** The networks' payouts. */
  readonly payouts: SimulatedPayouts;
  /** A refund is a payout that names its collection. */
  refund(request: RefundRequest, alongside?: Alongside<Payout>): Promise<RefundStart>;
  /** The wallets' statements, up to now. */
  readonly statements: SimulatedStatements;

  /**
   * Starts an outage of a network for one account and one number, for collections and payouts, until `endsAt`, or (null)
   * until `endOutage`. Throws PhoneNumberError.
   */
  beginOutage(outage: PhoneLine, endsAt: Date | null): Promise<void>;
  endOutage(outage: PhoneLine): Promise<void>;
}

/** How a caller of the API names a session; it must belong to the caller's account and network. */
export interface SessionAddress {
  account: string;
  network: string;
  sessionId: string;
}

// Enough for a phone's screen; older prompts can still be found by id.
const promptsMax = 20;

export function createSimulator(options: Omit<SimulatorContext, 'sharedCommits'>): Simulator {
  const { clock } = options;
  const db = new GatheringDatabase(options.db);
  // One that is refused would look like a network that is down.
  const sharedCommits = new SharedCommits(db, { aloneMax: 2, waitingMax: Infinity });
  const context: SimulatorContext = { ...options, db, sharedCommits };
  const change = async (key: SessionAddress, decide: (session: Session, now: Date) => Transition | undefined) => {
    if (!isOwnSession(key)) return undefined;
    const changed = await changeSession(context, key.sessionId, (session, now) =>
      session.network === key.network ? decide(session, now) : undefined,
    );
    return changed?.session.network === key.network ? changed.session : undefined;
  };
  return {
    start: (request, alongside) => startSession(context, request, alongside),
    find: async (key) => {
      const session = isOwnSession(key) ? await findVisible(context, key.sessionId) : undefined;
      return session?.network === key.network ? session : undefined;
    },
    findByReference: async (key) => visible(await findSessionByReference(db, key), clock.now()),
    findByTransaction: async (key) => visible(await findSessionByTransaction(db, key), clock.now()),
    enterCode: (key, code) => change(key, (session, now) => codeTransition(session, code, now)),
    confirm: (key) => change(key, confirmTransition),
    cancel: (key) => change(key, cancelTransition),
    listPrompts: (query) => listPrompts(context, query),
    findPrompt: async (sessionId) => {
      const session = await findVisible(context, sessionId);
      return session && promptOf(session, clock.now());
    },
    act: async (sessionId, action, code = '') => {
      const changed = await changeSession(context, sessionId, (session, now) =>
        phoneTransition(session, { action, code }, now),
      );
      return changed && { done: changed.isApplied, prompt: promptOf(changed.session, clock.now()) };
    },
    payouts: createSimulatedPayouts(context),
    refund: (request, alongside) => startRefund(context, request, alongside),
    statements: createSimulatedStatements(context),
    beginOutage: async (outage, endsAt) => {
      const outagePeriod = { beganAt: clock.now(), endsAt };
      await db.withTransaction(async (tx) => {
        tx.send(upsertOutage(outageKey(outage), outagePeriod));
        tx.send(upsertPayoutOutage(payoutLine(outage), outagePeriod));
      });
    },
    endOutage: async (outage) => {
      await db.withTransaction(async (tx) => {
        tx.send(deleteOutage(outageKey(outage)));
        tx.send(deletePayoutOutage(payoutLine(outage)));
      });
    },
  };
}

interface SessionChange {
  /** After the transition, or unchanged if there was none. */
  session: Session;
  isApplied: boolean;
}

/**
 * Applies a transition to a session and enqueues its notifications. `decide` gets the current state and returns undefined
 * to leave it. Returns undefined for a session that does not exist, or is not visible yet.
 */
async function changeSession(
  context: SimulatorContext,
  sessionId: string,
  decide: (session: Session, now: Date) => Transition | undefined,
): Promise<SessionChange | undefined> {
  const key = recordKey(sessionId);
  if (!key) return undefined;
  return context.db.withTransaction(async (tx) => {
    const stored = await lockSession(tx, key);
    // Read after the lock, so that a transition that waited for another one is not dated before it.
    const now = context.clock.now();
    if (!stored || stored.visibleAt > now) return undefined;
    const session = sessionAt(stored, now);
    const transition = decide(session, now);
    if (!transition) return { session, isApplied: false };
    tx.send(updateSession(transition.session));
    if (session.plannedAt !== null && transition.session.plannedAt?.getTime() !== session.plannedAt.getTime()) {
      tx.send(deleteFutureCallbacks(session, now));
    }
    enqueueSessionNotifications(tx, context, transition.session, transition.notifications, 'change');
    return { session: transition.session, isApplied: true };
  });
}

async function listPrompts({ db, clock }: SimulatorContext, query: PhoneQuery): Promise<Prompt[]> {
  const payerNumber = canonicalNumber(query.number);
  if (query.account !== undefined && !isAccount(query.account)) return [];
  const sessions = await listSessionsByNumber(db, { payerNumber, account: query.account ?? null, rowsMax: promptsMax });
  const now = clock.now();
  return sessions.filter((session) => session.visibleAt <= now).map((session) => promptOf(session, now));
}

async function findVisible({ db, clock }: SimulatorContext, sessionId: string): Promise<Session | undefined> {
  const key = recordKey(sessionId);
  return key && visible(await findSessionById(db, key), clock.now());
}

/** The session's current state, unless the network pretends not to know it yet. */
function visible(session: Session | undefined, now: Date): Session | undefined {
  return session && session.visibleAt <= now ? sessionAt(session, now) : undefined;
}

function isOwnSession(key: SessionAddress): boolean {
  return recordKey(key.sessionId)?.account === key.account;
}

function outageKey(outage: PhoneLine): { account: string; network: string; payerNumber: string } {
  return { account: outage.account, network: outage.network, payerNumber: canonicalNumber(outage.number) };
}
