import { utcDay } from '../../server/src/kit/clock.ts';
import { findViolation, listUnfinished } from './check-end.ts';
import { checkPages } from './check-pages.ts';
import { checkReceipts } from './check-receipts.ts';
import { Choices } from './choices.ts';
import { falseKinds } from './contradictions.ts';
import { seeToEndpoints } from './endpoints.ts';
import { asInstance, type Machine } from './instance.ts';
import { crash, startInstance } from './machines.ts';
import { passPeriods } from './periods.ts';
import { handsCount, hasTill, stepFaults, type Fault, type Plan } from './plan.ts';
import { reconcileAtConsole } from './statements.ts';
import { tillName } from './till.ts';
import { areCasesUnknown, areReversalsOpen, resolveUnknownCases } from './unknown-cases.ts';
import { createWorld, startedAt, type World } from './world.ts';

export interface RunResult {
  seed: string;
  /** What was violated; null if the run kept every promise. */
  violation: string | null;
  steps: number;
  /** Equal for equal histories. */
  hash: string;
  history: readonly string[];
  logLines: readonly string[];
}

const stepsMax = 60_000;
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const walkInMinor = 700n;
// Look-ups come at least every half a minute, callbacks and deliveries are tried again after minutes and hours; a prompt that nobody
// answers ends with the lifetime of its intent. What no network reports is a case after a day, and a receiver
// may be down for as long.
const [usualPauses, longPauses] = [
  [31, 31, 125, 61, 301, 301, 601, 1_441],
  [1_441, 61, 301, 1_441],
].map(withShortPauses);
const kindChangesCount = 3;
// While a network is down: about the waits of a circuit breaker.
const outagePauses = [2_500, 9_000, 33_000, 65_000];

// After each long pause come short ones, because a simulated network is down for some seconds from the first payout on that comes after
// a while, and the payout is then looked up before it is sent again.
function withShortPauses(minutes: readonly number[]): number[] {
  const first = [31_000, 31_000];
  return [...first, ...minutes.flatMap((long) => [long * minuteMs, 8_000, 8_000, 31_000])];
}

/** Runs a plan from a seed to its end, and checks what must hold then. */
export async function runPlan(plan: Plan): Promise<RunResult> {
  const world = await createWorld(plan);
  const { scheduler } = world.room;
  let violation: string | null;
  try {
    violation = await new Run(world, plan).toEnd();
  } catch (error) {
    violation = error instanceof Error ? `error: ${error.message}` : String(error);
  }
  const { history, stepsCount: steps } = scheduler;
  const result = { seed: plan.seed, violation, steps, hash: scheduler.hashOfHistory(), history };
  await world.stop();
  return { ...result, logLines: world.room.logLines };
}

/** A refund may go to a number for which the network has no money, until somebody brings it some. */
async function fillFloats({ room }: World): Promise<void> {
  await room.shared.database.asOwner(`UPDATE simulator.floats SET state = 'filled' WHERE state = 'empty'`);
}

class Run {
  readonly #world: World;
  readonly #plan: Plan;
  readonly #stepFaults: Fault[];
  #handsAtWork = handsCount;
  #failure: Error | undefined;

  constructor(world: World, plan: Plan) {
    this.#world = world;
    this.#plan = plan;
    const ofSteps = plan.faults.filter(({ kind }) => stepFaults.includes(kind));
    this.#stepFaults = ofSteps.toSorted((one, other) => one.at - other.at);
  }

  async toEnd(): Promise<string | null> {
    const { room, traffic, machines } = this.#world;
    for (let hand = 0; hand < handsCount; hand += 1) void asInstance(undefined, () => this.#work(hand));
    await room.scheduler.settle();
    while (this.#handsAtWork > 0) await this.#moveOn();
    // Also of the act that was the last one.
    if (this.#failure !== undefined) throw this.#failure;
    traffic.endFaults();
    this.#stepFaults.length = 0;
    for (const machine of machines) Object.assign(machine, { clockErrorMs: 0, databaseFault: undefined });
    const seen = await seeToEndpoints(this.#world, this);
    if (seen !== null) return seen;
    await this.untilDone(this.#world.acts.settings.switchAllOn());
    await this.#changeKinds();
    return (
      (await this.finish()) ??
      (await passPeriods(this.#world, this.#plan, this)) ??
      (await this.#readStatements()) ??
      (await this.#readStatementOfTill()) ??
      (await this.untilDone(checkPages(this.#world))) ??
      findViolation(this.#world)
    );
  }

  /** Where merchants change the kinds of their endpoints, they do so again, and money moves at once and when the change is long over. */
  async #changeKinds(): Promise<void> {
    const { acts, seed } = this.#plan;
    if (acts.every(({ kind }) => kind !== 'change_kinds')) return;
    for (let change = 1; change <= kindChangesCount; change += 1) {
      const { settings } = this.#world.acts;
      await this.untilDone(settings.changeAllKinds(new Choices(`${seed} kinds ${change}`)));
      for (const pauseMs of [20_000, 4 * minuteMs]) {
        await this.untilDone(this.#world.acts.moveMoney(`after change ${change} and before ${pauseMs} ms`));
        await this.pass(pauseMs);
        await this.untilIdle();
      }
    }
  }

  async #work(hand: number): Promise<void> {
    const { acts, room } = this.#world;
    try {
      for (const act of this.#plan.acts.filter((one) => one.hand === hand)) {
        await room.clock.ofMachine().sleep(act.pauseMs);
        await acts.run(act);
      }
    } catch (error) {
      this.#failure ??= error instanceof Error ? error : new Error(String(error));
    }
    this.#handsAtWork -= 1;
  }

  /** One step, or some time when nothing is ready (and now and then before: a machine may be slow). */
  async #moveOn(): Promise<void> {
    const { room, choices } = this.#world;
    const { scheduler } = room;
    if (this.#failure !== undefined) throw this.#failure;
    if (scheduler.stepsCount > stepsMax) throw new Error(`no end after ${stepsMax} steps`);
    if (await this.#restartNext()) return;
    await this.#befall();
    if (scheduler.hasReady && choices.below(80) > 0) await scheduler.step();
    else await this.pass((room.clock.msToNext() ?? 0) + choices.pick([0, 0, 500, 2_000]));
  }

  async pass(ms: number): Promise<void> {
    const { scheduler, clock } = this.#world.room;
    scheduler.note(`${ms} ms pass`);
    clock.advance(ms);
    await scheduler.settle();
  }

  /** When the day is over, an operator imports what the networks' statements say, which shows what else they have contradicted. */
  async #readStatements(): Promise<string | null> {
    const { operators, networks, accounts, traffic } = this.#world;
    const falseFaults = this.#plan.faults.filter(({ kind }) => falseKinds.some((one) => one === kind));
    if (falseFaults.length === 0) return null;
    const days = this.#listDays();
    await this.pass(2 * dayMs);
    const falseLines = falseFaults.filter(({ kind }) => kind === 'false_statement' || kind === 'missing_line');
    const contradicted = new Set(traffic.contradictions.map(({ reference }) => reference));
    const { statements } = networks;
    const reconciling = operators.reconcile({ statements, accounts, days, falseLines, contradicted });
    traffic.contradictions.push(...(await this.untilDone(reconciling)));
    return this.finish();
  }

  /** Since the run began. */
  #listDays(): string[] {
    const beganAtMs = startedAt.getTime();
    const count = Math.ceil((this.#world.room.clock.passedMs - beganAtMs) / dayMs) + 1;
    return Array.from({ length: count }, (_, index) => utcDay(new Date(beganAtMs + index * dayMs)));
  }

  /** The statement of a number that receives by receipts confirms what its phone has forwarded, or contradicts it. */
  async #readStatementOfTill(): Promise<string | null> {
    if (!hasTill(this.#plan)) return null;
    const { till, operators, consoleActs } = this.#world;
    const days = this.#listDays();
    await this.pass(2 * dayMs);
    // It is complete for the days before this line.
    till.receive(walkInMinor);
    const statement = { rail: tillName, lines: till.statement, days };
    await this.untilDone(
      consoleActs ? reconcileAtConsole(consoleActs.operators, statement) : operators.importStatement(statement),
    );
    return (await this.finish()) ?? checkReceipts(this.#world);
  }

  async untilDone<Result>(work: Promise<Result>): Promise<Result> {
    let isDone = false;
    void work.finally(() => (isDone = true)).catch(() => {});
    while (!isDone) {
      await this.#world.room.scheduler.settle();
      await this.untilIdle();
    }
    return work;
  }

  /** Works off everything with growing pauses, until nothing is left to do. */
  async finish(): Promise<string | null> {
    const { room, traffic } = this.#world;
    const { scheduler } = room;
    const isLong = traffic.receivers.areDownForHours || (await areCasesUnknown(this.#world));
    let unfinished: string[] = [];
    for (const pauseMs of this.#pauses(isLong)) {
      await this.untilIdle();
      unfinished = await listUnfinished(this.#world);
      if (unfinished.length === 0 && !(await areReversalsOpen(this.#world))) return null;
      await fillFloats(this.#world);
      if (await areCasesUnknown(this.#world)) await this.untilDone(resolveUnknownCases(this.#world));
      await this.pass(pauseMs);
    }
    const blocked = scheduler.blockedStatements;
    return `stuck: ${[...unfinished, ...blocked].slice(0, 5).join('; ')}`;
  }

  *#pauses(isLong: boolean): Iterable<number> {
    const { outages } = this.#world.traffic;
    for (const pauseMs of outagePauses) if (outages.msLeft > 0) yield Math.min(pauseMs, outages.msLeft + 1);
    if (outages.msLeft > 0) yield outages.msLeft + 1;
    yield* (isLong ? longPauses : usualPauses) ?? [];
    // Days that begin meanwhile may have payouts of their own that no network settles.
    for (let round = 0; round < 3; round += 1) yield* longPauses ?? [];
  }

  async untilIdle(): Promise<void> {
    const { scheduler } = this.#world.room;
    while (scheduler.hasReady) {
      if (scheduler.stepsCount > stepsMax) throw new Error(`no end after ${stepsMax} steps`);
      await scheduler.step();
    }
  }

  async #restartNext(): Promise<boolean> {
    const { machines, restarts } = this.#world;
    const next = restarts.shift();
    const machine = machines.find(({ name }) => name === next?.machine);
    if (!next || !machine) return false;
    await this.#restart(machine, 'crash');
    next.done();
    await this.#world.room.scheduler.settle();
    return true;
  }

  async #befall(): Promise<void> {
    const { machines, room } = this.#world;
    const [fault] = this.#stepFaults;
    if (!fault || room.scheduler.stepsCount < fault.at) return;
    this.#stepFaults.shift();
    const machine = machines[fault.choice % machines.length];
    if (!machine) return;
    room.scheduler.note(`  fault ${fault.id}: ${fault.kind} of ${machine.name}`);
    if (fault.kind === 'clock_jump') machine.clockErrorMs += ((fault.choice % 121) - 60) * minuteMs;
    else if (fault.kind === 'database_restart') await this.#restartDatabase();
    else if (fault.kind === 'crash' || fault.kind === 'crash_after') await this.#restart(machine, fault.kind);
    else machine.databaseFault = fault.kind;
  }

  async #restartDatabase(): Promise<void> {
    const { room } = this.#world;
    await room.shared.loseConnections();
    room.scheduler.locksMayBeFree();
    await room.scheduler.settle();
  }

  async #restart(machine: Machine, kind: 'crash' | 'crash_after'): Promise<void> {
    const { room } = this.#world;
    const { instance } = machine;
    if (!instance) return;
    if (kind === 'crash_after') {
      instance.hasCrashed = true;
      await room.scheduler.stepOf(instance);
    }
    await crash(room, instance);
    await room.scheduler.settle();
    // A start that the database refuses ends the process, which is started once more.
    machine.databaseFault = undefined;
    await startInstance(room, machine);
  }
}
