import { dashboards, furtherCount, furthers, oversight, receipts, terms, upkeep, type Further } from './additions.ts';
import { Choices } from './choices.ts';
import type { ActKind, FaultKind } from './kinds.ts';

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

const actsCount = 10;

const pageForms = ['open_page_by_form', 'switch_page_by_form', 'delete_page_by_form', 'request_by_form'] as const;

const ofPayers: ReadonlySet<ActKind> = new Set([
  ...pageForms,
  ...(['pay_at_page', 'pay_by_receipt', 'race_for_receipt', 'take_receipt', 'forge_message', 'match_by_form'] as const),
  ...(['match_at_console', 'pay_at_screen'] as const),
]);
const ofReceipts: ReadonlySet<ActKind> = new Set([...receipts.acts, 'match_at_console'] as const);

/** Whether anybody opens the pages of payers. */
export function hasPayers({ acts }: Plan): boolean {
  return acts.some(({ kind }) => ofPayers.has(kind));
}

// Other runs do what they do by programs.
const ofDesks: ReadonlySet<ActKind> = new Set(['settings_by_form', 'pay_at_screen', 'cancel_transfer', 'waive_debt']);

/** Whether people of the first merchant's business do what its program does otherwise. */
export function hasDesk({ acts }: Plan): boolean {
  return acts.some(({ kind }) => ofDesks.has(kind));
}

const ofMembers: ReadonlySet<ActKind> = new Set([
  ...dashboards.acts,
  ...ofDesks,
  ...pageForms,
  ...(['match_by_form', 'refund_receipt_by_form'] as const),
]);

/** Whether the people of the first merchant's business sign in to the dashboard. */
export function hasMembers({ acts }: Plan): boolean {
  return acts.some(({ kind }) => ofMembers.has(kind));
}

const ofTeams: ReadonlySet<ActKind> = new Set(['roll_key', 'change_role', 'remove_member']);

/** Whether two owners and a developer of the first merchant's business are signed in to the dashboard. */
export function hasTeam({ acts }: Plan): boolean {
  return acts.some(({ kind }) => ofTeams.has(kind));
}

const ofConsole: ReadonlySet<ActKind> = new Set(
  [...oversight.acts, ...terms.acts].filter((kind) => kind.endsWith('_at_console')),
);

/** Whether operators look after the first merchant's business at the console. */
export function hasOversight({ acts }: Plan): boolean {
  return acts.some(({ kind }) => ofConsole.has(kind));
}

/** Whether the first merchant is the live one of its business. */
export function hasLiveMerchant({ acts }: Plan): boolean {
  return acts.some(({ kind }) => kind === 'pause_network');
}

/** Whether operators are signed in to the console. */
export function hasConsole({ acts }: Plan): boolean {
  return acts.some(({ kind }) => kind === 'decide_at_console' || ofConsole.has(kind));
}

/** Whether the first merchant has a number of its own that receives by receipts. */
export function hasTill({ acts }: Plan): boolean {
  return acts.some(({ kind }) => ofReceipts.has(kind));
}

/** One in so many of the runs with upkeep. */
const sealKeyRotations = 3;
export const handsCount = 4;
const callsAbout = 60;
const stepsAbout = 1_200;

export function planOf(seed: string): Plan {
  const choices = new Choices(`plan ${seed}`);
  const acts = Array.from({ length: actsCount }, (_, index): Act => ({
    id: `a${index + 1}`,
    // Somebody has to collect before anything else can be done.
    kind: index < handsCount ? 'collect' : choices.pick(actKinds),
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

function addFurther(plan: Plan, choices: Choices): Plan {
  const among: readonly [Further, ...Further[]] = choices.pick(furthers);
  const further = among.length === 1 ? among[0] : choices.pick(among);
  const { seed } = plan;
  const { first = [], isWhole = false } = further;
  const added = Array.from({ length: furtherCount }, (_, index) => ({
    act: {
      id: `o${index + 1}`,
      ...{ kind: choices.pick(further.acts), choice: `${seed} further act ${index + 1}` },
      ...{ hand: index % handsCount, pauseMs: choices.below(3) * 1_000 },
    },
    fault: {
      id: `c${index + 1}`,
      kind: choices.pick(further.faults),
      at: choices.below(callsAbout),
      choice: choices.below(1_000),
    },
  }));
  const usual = (act: Act, index: number) => (isWhole && index >= handsCount ? choices.pick(further.acts) : act.kind);
  const begun = plan.acts.map((act, index) => ({ ...act, kind: first[index] ?? usual(act, index) }));
  const acts = [...begun, ...added.map(({ act }) => act)];
  const faults = [...plan.faults, ...added.slice(0, further.faultsMax).map(({ fault }) => fault)];
  // It restarts everybody, which costs as much as a third of a run.
  if (further === upkeep && choices.below(sealKeyRotations) === 0)
    acts.splice(choices.below(acts.length), 0, keyRotation(seed));
  return { seed, acts, faults };
}

function keyRotation(seed: string): Act {
  return { id: 'k1', kind: 'rotate_seal_key', choice: `${seed} key rotation`, hand: handsCount - 1, pauseMs: 0 };
}
