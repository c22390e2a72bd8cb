import type { ActKind, FaultKind } from './kinds.ts';

/** How many acts and faults an addition has at most. */
export const furtherCount = 4;

/** What comes on top of a run; each run has one kind of it. */
export interface Further {
  /** What the run begins with. */
  first?: readonly ActKind[];
  /** Whether its acts also stand in place of the usual ones, but for the first. */
  isWhole?: boolean;
  acts: readonly [ActKind, ...ActKind[]];
  faults: readonly [FaultKind, ...FaultKind[]];
  faultsMax: number;
}

/** Networks that contradict themselves, and operators who change what applies. */
export const contradictions: Further = {
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
export const upkeep: Further = {
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
export const receipts: Further = {
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
export const dashboards: Further = {
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
/** Operators who suspend a business, pause its account and agree its terms while money moves. */
export const oversight: Further = {
  acts: [
    ...(['suspend_at_console', 'suspend_at_console', 'terms_at_console', 'terms_at_console'] as const),
    ...(['pause_at_console', 'transfer', 'transfer'] as const),
  ],
  faults: ['answer_lost', 'doubled', 'crash', 'commit_lost', 'deadlock'],
  faultsMax: 2,
};
/** People who do at the dashboard what a program does otherwise, and change its settings. */
const desks: Further = {
  first: ['sub_account', 'collect', 'add_endpoint', 'settings_by_form'],
  isWhole: true,
  acts: [
    ...([
      'collect',
      'collect',
      'phone',
      'refund',
      'pay_out',
      'sub_account',
      'settings_by_form',
      'settings_by_form',
    ] as const),
    ...([
      'cancel',
      'cancel_transfer',
      'cancel_transfer',
      'waive_debt',
      'waive_debt',
      'pay_at_screen',
      'edit_page',
    ] as const),
    ...(['add_endpoint', 'switch_endpoint', 'rotate_added_secret', 'change_kinds', 'test_endpoint'] as const),
    ...([
      'pay_group',
      'pay_group',
      'change_group',
      'delete_group',
      'change_sub_account',
      'change_sub_account',
    ] as const),
    ...(['pay_shared', 'pay_shared', 'delete_sub_account'] as const),
  ],
  faults: ['answer_lost', 'doubled', 'crash', 'commit_lost', 'deadlock'],
  faultsMax: 2,
};
/** Operators who change what money is moved by, and pay out, at the console. */
export const terms: Further = {
  first: ['sub_account', 'collect', 'collect', 'terms_at_console'],
  isWhole: true,
  acts: [
    ...(['collect', 'collect', 'phone', 'refund', 'transfer', 'transfer', 'sub_account', 'pay_out'] as const),
    ...([
      'terms_at_console',
      'terms_at_console',
      'terms_at_console',
      'settle_at_console',
      'settle_at_console',
    ] as const),
    ...(['account_at_console', 'account_at_console', 'account_at_console', 'business_at_console'] as const),
    ...(['keys_at_console', 'keys_at_console', 'match_at_console', 'match_at_console'] as const),
  ],
  faults: ['answer_lost', 'doubled', 'crash', 'commit_lost', 'deadlock'],
  faultsMax: 2,
};
/** One of them, and of the last two one of theirs. */
export const furthers = [
  ...([[contradictions], [upkeep], [collecting], [outages], [settlements], [receipts], [dashboards, desks]] as const),
  ...([[settings], [teams], [oversight, terms]] as const),
] as const;
