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
  | 'suspend'
  /** The account at a network that a merchant has of its own. */
  | 'pause_account'
  | 'rotate_account'
  | 'rotate_webhook_secret'
  | 'rotate_seal_key'
  /** The only network that a live merchant has. */
  | 'pause_network'
  /** Some transfers of one merchant at once. */
  | 'payday'
  /** Every sub-account that has enough is paid out: now, or from now on. */
  | 'settle'
  | 'schedule_payouts'
  /** The endpoint of a receiver that was gone. */
  | 'switch_on'
  | 'open_link'
  | 'open_counter'
  | 'change_page'
  | 'delete_page'
  | 'delete_sub_account'
  /** Payers open the page of a link or counter, and pay there. */
  | 'pay_at_page'
  /** People of the business open, switch and delete links and counters at its pages, and ask there for payments. */
  | 'open_page_by_form'
  | 'switch_page_by_form'
  | 'delete_page_by_form'
  | 'request_by_form'
  /** Payers send money to the shop's own number, and type the transaction's id. */
  | 'pay_by_receipt'
  | 'race_for_receipt'
  | 'take_receipt'
  | 'forge_message'
  /** Somebody sends money who has no payment. */
  | 'walk_in'
  | 'match_receipt'
  /** A merchant notes that a payer has the money back, which nobody else can return. */
  | 'refund_receipt'
  /** Somebody of the business decides whom a receipt has paid, while its payer types the id and others decide too. */
  | 'match_by_form'
  | 'refund_receipt_by_form'
  /** People of a business at the pages of its dashboard. */
  | 'refund_by_form'
  | 'pay_out_by_form'
  | 'pay_sub_account_by_form'
  | 'decide_by_form'
  /** Endpoints that merchants add, and how groups share. */
  | 'add_endpoint'
  | 'switch_endpoint'
  | 'rotate_added_secret'
  | 'change_kinds'
  | 'open_group'
  | 'change_group'
  | 'pay_group'
  /** What merchants change of sub-accounts, and payments that name them. */
  | 'change_sub_account'
  | 'pay_shared'
  /** Owners and a developer at the pages of the dashboard. */
  | 'roll_key'
  | 'change_role'
  | 'remove_member'
  /** Operators at the pages of the console. */
  | 'decide_at_console'
  | 'suspend_at_console'
  | 'limits_at_console'
  | 'pause_at_console';

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
  /** A receiver is down for a while, which may be longer than the acts. */
  | 'receiver_down'
  /** A worker stands still between the list of whom a period pays out and their payouts. */
  | 'slow_settlement'
  /** A receiver says that it is gone, or fails for five days, and its endpoint is switched off. */
  | 'receiver_off'
  /** A network is down for minutes. */
  | 'network_down'
  /** A network reports nothing of a payment or payout that it has received, until an operator has looked it up in its books. */
  | 'unreported'
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

const actsCount = 10;
const furtherCount = 4;

/** What comes on top of a run; each run has one kind of it. */
interface Further {
  /** What the run begins with. */
  first?: readonly ActKind[];
  acts: readonly [ActKind, ...ActKind[]];
  faults: readonly [FaultKind, ...FaultKind[]];
  faultsMax: number;
}

/** Networks that contradict themselves, and operators who change what applies. */
const contradictions: Further = {
  acts: [
    ...(['change_rules', 'change_rules', 'suspend', 'decide', 'transfer', 'refund', 'refund'] as const),
    ...(['decide_at_console', 'decide_at_console'] as const),
  ],
  faults: [
    ...(['false_look_up', 'false_amount', 'false_callback', 'signed_callback', 'forged_callback'] as const),
    ...(['false_statement', 'missing_line'] as const),
  ],
  faultsMax: furtherCount,
};
/** Operators and merchants who pause accounts and replace secrets, and receivers and networks that cannot be reached for long. */
const upkeep: Further = {
  acts: [
    'pause_account',
    'pause_account',
    'rotate_account',
    'rotate_webhook_secret',
    'rotate_webhook_secret',
    'transfer',
  ],
  faults: ['receiver_down', 'receiver_down', 'unreported'],
  // A day without an outcome costs as much as a third of a run.
  faultsMax: 2,
};
/** Payers at the pages of links and counters, which their merchants change and delete meanwhile. */
const collecting: Further = {
  first: ['open_link', 'open_counter'],
  acts: [
    ...(['pay_at_page', 'pay_at_page', 'pay_at_page', 'pay_at_page', 'change_page', 'delete_page'] as const),
    ...(['open_page_by_form', 'open_page_by_form', 'switch_page_by_form', 'switch_page_by_form'] as const),
    ...(['delete_page_by_form', 'request_by_form', 'request_by_form'] as const),
  ],
  faults: ['answer_lost', 'doubled', 'lost', 'crash', 'commit_lost'],
  faultsMax: 2,
};
/** Networks that are down for minutes, or that operators pause, while much is paid out. */
const outages: Further = {
  first: ['sub_account', 'sub_account'],
  acts: ['payday', 'payday', 'transfer', 'refund', 'pause_network', 'pause_network', 'schedule_payouts'],
  faults: ['network_down'],
  faultsMax: 1,
};
/** Payouts of sub-accounts by request and by period, for which workers compete, and receivers whose endpoints are switched off. */
const settlements: Further = {
  first: ['sub_account', 'sub_account'],
  acts: ['settle', 'settle', 'schedule_payouts', 'schedule_payouts', 'pay_out', 'delete_sub_account', 'switch_on'],
  faults: ['receiver_off', 'slow_settlement', 'slow_settlement'],
  faultsMax: 3,
};
/** A shop's own number that receives by receipts. */
const receipts: Further = {
  first: ['pay_by_receipt', 'pay_by_receipt'],
  acts: [
    ...(['pay_by_receipt', 'pay_by_receipt', 'pay_by_receipt', 'race_for_receipt', 'race_for_receipt'] as const),
    ...(['take_receipt', 'take_receipt', 'forge_message', 'walk_in', 'match_receipt', 'match_receipt'] as const),
    ...(['refund_receipt', 'refund_receipt', 'match_by_form', 'match_by_form', 'refund_receipt_by_form'] as const),
  ],
  faults: ['answer_lost', 'doubled', 'lost', 'crash', 'commit_lost', 'deadlock'],
  faultsMax: 3,
};
/** People who move money at the pages of the dashboard. */
const dashboards: Further = {
  first: ['sub_account'],
  acts: [
    ...(['refund_by_form', 'refund_by_form', 'pay_out_by_form', 'pay_out_by_form', 'pay_out_by_form'] as const),
    ...(['pay_sub_account_by_form', 'decide_by_form', 'decide_by_form'] as const),
  ],
  faults: ['answer_lost', 'doubled', 'crash', 'crash_after', 'commit_lost'],
  faultsMax: 3,
};
/** Merchants who change endpoints and splits while events and money flow. */
const settings: Further = {
  first: ['sub_account', 'sub_account', 'add_endpoint'],
  acts: [
    ...(['add_endpoint', 'switch_endpoint', 'switch_endpoint', 'switch_endpoint', 'rotate_added_secret'] as const),
    ...(['change_kinds', 'change_kinds'] as const),
    ...(['pay_group', 'pay_group', 'pay_group', 'change_group', 'open_group'] as const),
    ...(['change_sub_account', 'change_sub_account', 'pay_shared', 'pay_shared', 'pay_shared', 'pay_out'] as const),
    ...(['settle', 'delete_sub_account'] as const),
  ],
  faults: ['answer_lost', 'doubled', 'crash', 'commit_lost', 'deadlock', 'unavailable'],
  faultsMax: 3,
};
/** Owners who change keys and the team while programs and people use them. */
const teams: Further = {
  acts: ['roll_key', 'roll_key', 'change_role', 'remove_member', 'remove_member', 'transfer'],
  faults: ['answer_lost', 'doubled', 'crash', 'commit_lost', 'deadlock'],
  faultsMax: 2,
};
/** Operators who suspend a business, pause its account and agree its limits while money moves. */
const oversight: Further = {
  acts: [
    ...(['suspend_at_console', 'suspend_at_console', 'limits_at_console', 'limits_at_console'] as const),
    ...(['pause_at_console', 'transfer', 'transfer'] as const),
  ],
  faults: ['answer_lost', 'doubled', 'crash', 'commit_lost', 'deadlock'],
  faultsMax: 2,
};
const furthers = [
  ...([contradictions, upkeep, collecting, outages, settlements, receipts, dashboards] as const),
  ...([settings, teams, oversight] as const),
] as const;

const pageForms = ['open_page_by_form', 'switch_page_by_form', 'delete_page_by_form', 'request_by_form'] as const;

const ofPayers: ReadonlySet<ActKind> = new Set([
  ...pageForms,
  ...(['pay_at_page', 'pay_by_receipt', 'race_for_receipt', 'take_receipt', 'forge_message', 'match_by_form'] as const),
]);
const ofReceipts: ReadonlySet<ActKind> = new Set(receipts.acts);

/** Whether anybody opens the pages of payers. */
export function hasPayers({ acts }: Plan): boolean {
  return acts.some(({ kind }) => ofPayers.has(kind));
}

const ofMembers: ReadonlySet<ActKind> = new Set([
  ...dashboards.acts,
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

const ofOversight: ReadonlySet<ActKind> = new Set(['suspend_at_console', 'limits_at_console', 'pause_at_console']);

/** Whether operators look after the first merchant's business at the console. */
export function hasOversight({ acts }: Plan): boolean {
  return acts.some(({ kind }) => ofOversight.has(kind));
}

/** Whether the first merchant is the live one of its business. */
export function hasLiveMerchant({ acts }: Plan): boolean {
  return acts.some(({ kind }) => kind === 'pause_network');
}

/** Whether operators are signed in to the console. */
export function hasConsole({ acts }: Plan): boolean {
  return acts.some(({ kind }) => kind === 'decide_at_console' || ofOversight.has(kind));
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
  const further = choices.pick(furthers);
  const { seed } = plan;
  const { first = [] } = further;
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
  const begun = plan.acts.map((act, index) => ({ ...act, kind: first[index] ?? act.kind }));
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
