import { Choices } from './choices.ts';
import type { FalseKind } from './contradictions.ts';

/** What somebody does, and what goes wrong: a run follows from it and the seed, so a part can be left out to see if it matters. */
export interface Plan {
  seed: string;
  acts: readonly Act[];
  faults: readonly Fault[];
}

/** One act of a merchant, payer or operator; `choice` decides its details, whatever else is left out. */
export interface Act {
  id: string;
  kind: ActKind;
  choice: string;
  /** Who does it, one act after another. */
  hand: number;
  pauseMs: number;
}

export type ActKind =
  | 'collect'
  | 'phone'
  | 'cancel'
  | 'refund'
  | 'transfer'
  | 'sub_account'
  | 'pay_out'
  | 'doubled_transfer'
  | 'decide'
  | 'change_rules'
  | 'suspend';

export type FaultKind =
  /** The connection is refused: nothing was sent. */
  | 'refused'
  /** The request is lost on its way: the connection breaks. */
  | 'lost'
  /** It arrives, and the connection breaks before the response. */
  | 'answer_lost'
  /** The response comes after the caller has given up. */
  | 'answer_late'
  /** It arrives twice. */
  | 'doubled'
  /** The next payout: the connection breaks, and it arrives when its network has denied it and it may have been sent again. */
  | 'payout_late'
  /** The receiver answers 503. */
  | 'unavailable'
  | FalseKind
  /** An instance crashes, and its machine starts another. */
  | 'crash'
  /** An instance crashes after its statement was worked, and before it learns so. */
  | 'crash_after'
  | 'clock_jump'
  /** A statement takes too long, or is the victim of a deadlock. */
  | 'statement_timeout'
  | 'deadlock'
  /** A commit is made, and the connection breaks before the response. */
  | 'commit_lost'
  /** The database restarts: all connections break, and what was not committed is rolled back. */
  | 'database_restart';

export interface Fault {
  id: string;
  kind: FaultKind;
  /** The call, or the step, that it befalls; counted from the start of the run. */
  at: number;
  choice: number;
}

const actKinds: readonly [ActKind, ...ActKind[]] = [
  ...(['collect', 'collect', 'collect', 'collect', 'collect', 'phone', 'phone', 'phone', 'cancel'] as const),
  ...([
    'refund',
    'refund',
    'transfer',
    'transfer',
    'transfer',
    'doubled_transfer',
    'sub_account',
    'pay_out',
    'decide',
  ] as const),
];
/** Those that come at a step; the others come at a call. */
export const stepFaults: readonly [FaultKind, ...FaultKind[]] = [
  ...([
    'crash',
    'crash_after',
    'clock_jump',
    'statement_timeout',
    'deadlock',
    'commit_lost',
    'database_restart',
  ] as const),
];
const callFaults: readonly [FaultKind, ...FaultKind[]] = [
  ...(['refused', 'lost', 'answer_lost', 'answer_lost', 'answer_late', 'doubled', 'unavailable'] as const),
  ...(['payout_late', 'payout_late'] as const),
];

/** What comes on top in every third run. */
const furtherActs: readonly [ActKind, ...ActKind[]] = ['change_rules', 'change_rules', 'suspend', 'decide', 'transfer'];
const furtherFaults: readonly [FaultKind, ...FaultKind[]] = [
  'false_look_up',
  'false_look_up',
  'false_callback',
  'false_statement',
];

const actsCount = 14;
const furtherCount = 4;
export const handsCount = 4;
const callsAbout = 60;
const stepsAbout = 1_200;

export function planOf(seed: string): Plan {
  const choices = new Choices(`plan ${seed}`);
  const acts = Array.from({ length: actsCount }, (_, index): Act => ({
    id: `a${index + 1}`,
    // Somebody has to collect before anything else can be done.
    kind: index < 2 ? 'collect' : choices.pick(actKinds),
    choice: `${seed} act ${index + 1}`,
    hand: index % handsCount,
    pauseMs: choices.below(3) * 1_000,
  }));
  const faults = Array.from({ length: 2 + choices.below(5) }, (): Omit<Fault, 'id'> => {
    const isOfStep = choices.below(3) === 0;
    if (!isOfStep)
      return { kind: choices.pick(callFaults), at: choices.below(callsAbout), choice: choices.below(1_000) };
    return { kind: choices.pick(stepFaults), at: 20 + choices.below(stepsAbout), choice: choices.below(1_000) };
  });
  const plan = { seed, acts, faults: faults.map((fault, index) => ({ ...fault, id: `f${index + 1}` })) };
  return addFurther(plan, new Choices(`further ${seed}`));
}

/** Networks that contradict themselves, and operators who change what applies. A run without them has the plan that it always had. */
function addFurther({ seed, acts, faults }: Plan, choices: Choices): Plan {
  if (choices.below(3) > 0) return { seed, acts, faults };
  const added = Array.from({ length: furtherCount }, (_, index) => ({
    act: {
      id: `o${index + 1}`,
      ...{ kind: choices.pick(furtherActs), choice: `${seed} further act ${index + 1}` },
      ...{ hand: index % handsCount, pauseMs: choices.below(3) * 1_000 },
    },
    fault: {
      id: `c${index + 1}`,
      kind: choices.pick(furtherFaults),
      at: choices.below(callsAbout),
      choice: choices.below(1_000),
    },
  }));
  return {
    seed,
    acts: [...acts, ...added.map(({ act }) => act)],
    faults: [...faults, ...added.map(({ fault }) => fault)],
  };
}
