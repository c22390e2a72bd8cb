import { changeSession } from './change-session.ts';
import type { SimulatorContext } from './context.ts';
import { cancelTransition, codeTransition, confirmTransition, phoneTransition } from './transitions.ts';
import type { Transition, PhoneAction } from './transitions.ts';
import { createSimulatedPayouts, payoutLine } from './payouts/simulated-payouts.ts';
import type { SimulatedPayouts } from './payouts/simulated-payouts.ts';
import { deletePayoutOutage, upsertPayoutOutage } from './payouts/queries.ts';
import { canonicalNumber } from './phone-line.ts';
import type { PhoneLine, PhoneQuery } from './phone-line.ts';
import { promptOf } from './prompt.ts';
import { createSimulatedRefunds } from './refunds/simulated-refunds.ts';
import type { SimulatedRefunds } from './refunds/simulated-refunds.ts';
import type { Prompt } from './prompt.ts';
import {
  deleteOutage,
  findSessionById,
  findSessionByReference,
  listSessionsByNumber,
  upsertOutage,
} from './queries.ts';
import { isAccount, recordKey } from './record-id.ts';
import { sessionAt } from './session.ts';
import type { Session } from './session.ts';
import type { StartRequest } from './start-request.ts';
import { startSession } from './start-session.ts';
import type { StartResult } from './start-session.ts';

/**
 * The simulated networks of the test environment: somebody else's service with a memory of its own, which happens to
 * run in our process. Everything it knows is in the database, so any number of processes are one network.
 */
export interface Simulator {
  /** The networks' own calls, for `simulatorRoutes`. Sessions come as they are now. */
  start(request: StartRequest): Promise<StartResult>;
  find(key: SessionAddress): Promise<Session | undefined>;
  findByReference(key: { account: string; network: string; reference: string }): Promise<Session | undefined>;
  /** A session that is still open afterwards got a wrong code, or expects none. */
  enterCode(key: SessionAddress, code: string): Promise<Session | undefined>;
  confirm(key: SessionAddress): Promise<Session | undefined>;
  cancel(key: SessionAddress): Promise<Session | undefined>;

  /**
   * What the simulated phone of a number shows, newest first: open prompts and what became of the last ones.
   * Throws PhoneNumberError for what is not a number.
   */
  listPrompts(query: PhoneQuery): Promise<Prompt[]>;
  /** By the id that stands in a launch link; undefined where there is none. */
  findPrompt(sessionId: string): Promise<Prompt | undefined>;
  /** `done` is false when the session does not allow the action (any more); `prompt.actions` says what it allows. */
  act(sessionId: string, action: PhoneAction): Promise<{ done: boolean; prompt: Prompt } | undefined>;

  /** What the networks pay out. */
  readonly payouts: SimulatedPayouts;
  /** What they give back of what they collected. */
  readonly refunds: SimulatedRefunds;

  /**
   * Takes a network down for one account and one number, collecting and paying out, until `endsAt`, or (null) until
   * `endOutage`. Throws PhoneNumberError.
   */
  beginOutage(outage: PhoneLine, endsAt: Date | null): Promise<void>;
  endOutage(outage: PhoneLine): Promise<void>;
}

/** A session as a network's caller names it: only its own account's, and only at its own network. */
export interface SessionAddress {
  account: string;
  network: string;
  sessionId: string;
}

// A phone screen's worth; older ones are still found by their id.
const promptsMax = 20;

export function createSimulator(context: SimulatorContext): Simulator {
  const { db, clock } = context;
  const change = async (key: SessionAddress, decide: (session: Session, now: Date) => Transition | undefined) => {
    if (!isOwnSession(key)) return undefined;
    const changed = await changeSession(context, key.sessionId, (session, now) =>
      session.network === key.network ? decide(session, now) : undefined,
    );
    return changed?.session.network === key.network ? changed.session : undefined;
  };
  return {
    start: (request) => startSession(context, request),
    find: async (key) => {
      const session = isOwnSession(key) ? await findVisible(context, key.sessionId) : undefined;
      return session?.network === key.network ? session : undefined;
    },
    findByReference: async (key) => visible(await findSessionByReference(db, key), clock.now()),
    enterCode: (key, code) => change(key, (session, now) => codeTransition(session, code, now)),
    confirm: (key) => change(key, confirmTransition),
    cancel: (key) => change(key, cancelTransition),
    listPrompts: (query) => listPrompts(context, query),
    findPrompt: async (sessionId) => {
      const session = await findVisible(context, sessionId);
      return session && promptOf(session, clock.now());
    },
    act: async (sessionId, action) => {
      const changed = await changeSession(context, sessionId, (session, now) => phoneTransition(session, action, now));
      return changed && { done: changed.isApplied, prompt: promptOf(changed.session, clock.now()) };
    },
    payouts: createSimulatedPayouts(context),
    refunds: createSimulatedRefunds(context),
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

/** As it is now, unless the network pretends not to know it yet. */
function visible(session: Session | undefined, now: Date): Session | undefined {
  return session && session.visibleAt <= now ? sessionAt(session, now) : undefined;
}

function isOwnSession(key: SessionAddress): boolean {
  return recordKey(key.sessionId)?.account === key.account;
}

function outageKey(outage: PhoneLine): { account: string; network: string; payerNumber: string } {
  return { account: outage.account, network: outage.network, payerNumber: canonicalNumber(outage.number) };
}
