/**
 * Where the rows of each table live when PostgreSQL runs as a cluster (docs/scaling.md). `by`: spread over the nodes by that column,
 * so that rows with the same value are on the same node; tables by the same column lie together. `reference`: a copy on every node,
 * for small tables that money is joined with. `coordinator`: on the coordinator only, for what is rare or belongs to nobody.
 */
export type Placement = { by: PlacementKey } | 'reference' | 'coordinator';

export type PlacementKey = 'merchant_id' | 'rail_account' | 'transaction_id' | 'number' | 'code';

/** The names of the tables of each placement; a test fails for a table without one. */
const tablesByPlacement = {
  merchant_id: `
    merchant_places api_key_addresses api_key_uses case_resolutions cases charge_notes charges customer_identities
    customer_locks customers daily_figure_progress daily_figures events idempotency_keys intent_shares key_limits
    ledger_accounts ledger_checkpoints ledger_checks ledger_deltas ledger_holds ledger_movements movement_blocks
    notifications outbox page_limits payment_intents payment_links payment_page_views rate_limits receipt_phones receipts
    refund_parts refunds request_log request_log_trims settlement_periods settlement_runs sub_account_group_members
    sub_account_groups sub_accounts transfer_days transfer_decisions transfer_notes transfer_requests transfers typed_ids virtual_terminals
    webhook_attempts webhook_deliveries webhook_endpoint_health webhook_endpoints`,
  rail_account: `
    reconciliation_days reconciliation_differences statement_imports statement_lines statement_mappings statement_refusals`,
  transaction_id: 'provider_transactions',
  number: 'network_prompt_times network_prompts notification_numbers',
  code: 'terminal_codes',
  reference: `
    api_keys businesses default_fee_rules default_reserve_rules default_transfer_limits fee_rules merchant_logos merchants
    reserve_rules transfer_limits`,
  coordinator: `
    account_attempts account_passkeys account_recovery_codes account_sessions account_tokens accounts audit_blocks
    audit_entries backup_runs business_checks circuit_breakers installation_secrets invitations key_checks
    ledger_verifications mails memberships network_inbox notification_channels operator_logins operators rail_accounts
    rail_credentials restores schema_migrations service_limits telegram_chats write_probes simulator.callbacks
    simulator.chat_messages simulator.floats simulator.gsma_requests simulator.outages simulator.payout_batches
    simulator.payout_outages simulator.payouts simulator.sessions`,
} satisfies Record<PlacementKey | 'reference' | 'coordinator', string>;

export const placements: ReadonlyMap<string, Placement> = new Map(
  Object.entries(tablesByPlacement).flatMap(([name, tables]) =>
    tables
      .trim()
      .split(/\s+/)
      .map((table) => [table, placementOf(name as keyof typeof tablesByPlacement)] as const),
  ),
);

function placementOf(name: keyof typeof tablesByPlacement): Placement {
  return name === 'reference' || name === 'coordinator' ? name : { by: name };
}
