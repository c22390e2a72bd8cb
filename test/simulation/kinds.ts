import type { FalseKind } from './contradictions.ts';

/** What somebody does. */
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
  | 'settings_by_form'
  | 'pay_at_screen'
  | 'edit_page'
  | 'cancel_transfer'
  | 'waive_debt'
  | 'delete_group'
  | 'test_endpoint'
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
  | 'pause_at_console'
  | 'terms_at_console'
  | 'settle_at_console'
  | 'account_at_console'
  | 'business_at_console'
  | 'keys_at_console'
  | 'match_at_console';

/** What goes wrong. */
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
