/** A bug that is planted in a copy of the service; the simulator has to find it. */
export interface PlantedBug {
  name: string;
  file: string;
  from: string;
  to: string;
}

const chargeEvent = `  if (eventKind !== null) {
    appendEvent(tx, context, {
      merchantId: merchant.id,
      kind: eventKind,
      objectId: next.id,
      sequence: next.eventSequence,
      record: chargeToWire`;

export const plantedBugs: readonly PlantedBug[] = [
  {
    name: 'lost lock: outcomes of a payment do not wait for each other',
    file: 'server/src/payments/queries/intents.ts',
    from: 'WHERE merchant_id = $1 AND id = $2 FOR UPDATE`',
    to: 'WHERE merchant_id = $1 AND id = $2`',
  },
  {
    name: 'lost lock: outcomes of a transfer do not wait for each other',
    file: 'server/src/transfers/queries.ts',
    from: 'FROM transfers WHERE merchant_id = $1 AND id = $2 FOR UPDATE`',
    to: 'FROM transfers WHERE merchant_id = $1 AND id = $2`',
  },
  {
    name: 'doubled send: a transfer that is sent again is a new one to the network',
    file: 'server/src/transfers/rail.ts',
    from: '    reference,\n',
    to: '    reference: transfer.sends > 0n ? `${reference.slice(0, -1)}Q` : reference,\n',
  },
  {
    name: 'missed event: the outcome of a late success is not reported',
    file: 'server/src/payments/change-payment.ts',
    from: chargeEvent,
    to: chargeEvent.replace('eventKind !== null', 'eventKind !== null && !next.late'),
  },
  {
    name: 'wrong sign: a reversed collection is booked as another one',
    file: 'server/src/payments/clawback.ts',
    from: '({ debit: account, credit: float, amountMinor })',
    to: '({ debit: float, credit: account, amountMinor })',
  },
  {
    name: 'forgotten fold: credits that a spend folds are lost',
    file: 'server/src/ledger/post.ts',
    from: '  if (folded !== 0n) tx.send(updateBalance(key, folded));\n',
    to: '',
  },
  {
    name: 'state without its guard: progress overwrites an outcome',
    file: 'server/src/payments/queries/charges.ts',
    from: ` AND charges.status = 'pending'\n             AND charges.progress = ANY (next.expected)`,
    to: '',
  },
  {
    name: 'forgotten form: a form that is pressed twice makes two payments',
    file: 'server/src/pages/collect/collect-targets.ts',
    from: 'const formHash = formId === null ? null : hashOfForm({ ...sent, ownerId: id, formId });',
    to: 'const formHash = null as string | null;',
  },
  {
    name: 'stuck breaker: an open circuit breaker never lets a trial through',
    file: 'server/src/networks/payout-breakers.ts',
    from: 'if (retryAt > now) return',
    to: 'if (retryAt >= breaker.openedAt) return',
  },
  {
    name: 'payout of no period: a settlement does not record what it pays out',
    file: 'server/src/settlement/settle-batch.ts',
    from: '      transferId: id,\n',
    to: '      transferId: null,\n',
  },
  {
    name: 'ignored period: a settlement pays out what another one has paid out in the period',
    file: 'server/src/settlement/settle-batch.ts',
    from: "const payouts = plan.payouts.filter(({ subAccountId }) => claimed.has(subAccountId ?? ''));",
    to: 'const payouts = plan.payouts;',
  },
  {
    name: 'money of nobody: a share is credited to a sub-account that was deleted',
    file: 'server/src/payments/booking.ts',
    from: 'const deleted = await lockDeleted(tx, charge.merchantId, ids);',
    to: 'const deleted = (await lockDeleted(tx, charge.merchantId, ids)) && new Set<string>();',
  },
  {
    name: 'unchecked signature: a callback is believed whoever has signed it',
    file: 'server/src/networks/wave/callback.ts',
    from: "if (seconds === undefined) return 'signature';",
    to: 'if (seconds === undefined) return null;',
  },
  {
    name: 'unchecked amount: a payment is paid by any amount',
    file: 'server/src/payments/apply-success.ts',
    from: "if (!isRequestedAmount(charge, providerTransaction)) return 'amount_mismatch';",
    to: '',
  },
  {
    name: 'open page: the page of a deleted link still takes payments',
    file: 'server/src/links/payment-link.ts',
    from: "if (deletedAt !== null) return 'deleted';",
    to: '',
  },
  {
    name: 'lost deliveries: what an endpoint missed while it was off is not sent again',
    file: 'server/src/webhooks/resend-events.ts',
    from: 'const resent = request.isDryRun ? 0 :',
    to: 'const resent = request.isDryRun || request.status !== "all" ? 0 :',
  },
  {
    name: 'wrong receipt: the page of a reversed payment still says paid',
    file: 'server/src/pages/checkout/step.ts',
    from: "if (charge === null) return 'paid';",
    to: "if (charge !== undefined) return 'paid';",
  },
  {
    name: 'held for ever: the money of a payout that operators find not paid is not released',
    file: 'server/src/transfers/resolve-case.ts',
    from: '        await bookReleased(tx, context, locked);\n',
    to: '',
  },
  {
    name: 'missing refund: what a statement does not have of payouts and refunds is no difference',
    file: 'server/src/reconciliation/compare.ts',
    from: "return [failed ? finding('status', { line: failed }) : finding('missing_there', { mayBeInTransit: true })];",
    to: "return failed || record.type === 'charge' ? [finding(failed ? 'status' : 'missing_there')] : [];",
  },
  {
    name: 'any receipt: a receipt of another amount pays',
    file: 'server/src/payments/typed-id.ts',
    from: 'if (receipt.amountMinor !== charge.amountPaidMinor || receipt.currency !== charge.currency) {',
    to: 'if (receipt.currency !== charge.currency) {',
  },
  {
    name: 'form without a key: a form of the dashboard that is pressed twice acts twice',
    file: 'server/src/dashboard/patterns/act.ts',
    from: '    ...(formId !== undefined && { idempotencyKey: keyOfForm(formId) }),\n',
    to: '',
  },
  {
    name: 'unbooked refund: a refund of money that was received directly is noted and not booked',
    file: 'server/src/refunds/create-refund.ts',
    from: "  await bookLeftDirectly(tx, context, charge, { flow: 'refunded_directly', railAccount, amountMinor });\n",
    to: '',
  },
  {
    name: 'decision about nothing: a person is told that a receipt paid, whatever it has paid',
    file: 'server/src/payments/match-by-person.ts',
    from: "      throw new AppError('state_conflict', 'The receipt has paid another payment, or the statement contradicts it.');\n",
    to: '      return [];\n',
  },
  {
    name: 'key for ever: a revoked key still works',
    file: 'server/src/merchants/queries/api-keys.ts',
    from: 'FROM api_keys WHERE key_hmac = $1 AND revoked_at IS NULL`',
    to: 'FROM api_keys WHERE key_hmac = $1`',
  },
  {
    name: 'unheeded suspension: a suspended business goes on',
    file: 'server/src/merchants/business-status.ts',
    from: '  if (suspendedAt === null) return;\n',
    to: '  if (suspendedAt !== undefined) return;\n',
  },
  {
    name: 'unnoticed endpoint: events of a process that does not know of a new endpoint are not planned once more',
    file: 'server/src/webhooks/delivery-planner.ts',
    from: "    enqueue(tx, this.#context, { merchantId, queue: 'webhooks', kind: 'plan_deliveries', subjectId: newId(), dueAt });\n",
    to: '',
  },
  {
    name: 'held back: what a process keeps that does not know that its endpoint is enabled again is not sent',
    file: 'server/src/webhooks/delivery-planner.ts',
    from: "if (known !== undefined && (known !== 'kept' || status !== 'pending')) continue;",
    to: 'if (known !== undefined) continue;',
  },
  {
    name: 'every kind: an endpoint also gets the kinds of events that it leaves out',
    file: 'server/src/webhooks/enabled-events.ts',
    from: '  return kindsOf(subscription).includes(kind);',
    to: '  return kindsOf(subscription).length > 0 && kind !== undefined;',
  },
  {
    name: 'stale kinds: a process that has missed a change of kinds plans by the former ones',
    file: 'server/src/webhooks/delivery-planner.ts',
    from: 'const endpointsKnownForMs = 3_000;',
    to: 'const endpointsKnownForMs = 3_000_000;',
  },
  {
    name: 'lost change: of two changes of a sub-account at once, one undoes the other',
    file: 'server/src/sub-accounts/queries.ts',
    from: "name: 'sub_accounts_lock_for_change',\n  text: `SELECT ${columns} FROM sub_accounts\n         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE`",
    to: "name: 'sub_accounts_lock_for_change',\n  text: `SELECT ${columns} FROM sub_accounts\n         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL`",
  },
  {
    name: 'requested twice: a payment that a person requests by a form that is pressed twice is two',
    file: 'server/src/dashboard/payments/new-payment.ts',
    from: '      formId,\n',
    to: '',
  },
  {
    name: 'forgotten account: what a paused account has begun is not finished',
    file: 'server/src/rail-accounts/connected-accounts.ts',
    from: 'return (connection?.connectors ?? []).map((connector) => ({',
    to: 'return (isDisabled ? [] : (connection?.connectors ?? [])).map((connector) => ({',
  },
  {
    name: 'missed period: a scheduled payout whose network is paused when its day begins is not made that day',
    file: 'server/src/settlement/settle-batch.ts',
    from: 'const isPaused = pausedNetworks.has(beneficiary.settlementCode);',
    to: "const isPaused = pausedNetworks.has('');",
  },
  {
    name: 'undone setting: of two people who change a setting at once, one undoes the other',
    file: 'server/src/dashboard/settings/change-setting.ts',
    from: '    await lockTerms(tx);\n',
    to: '',
  },
  {
    name: 'undone terms: an operator agrees other terms over those that another one has just agreed',
    file: 'server/src/console/terms/terms-form.ts',
    from: '        if (!isDeepStrictEqual(current, values)) throw changedMeanwhile;\n',
    to: '',
  },
  {
    name: 'former terms: a process goes on with the fees that held before',
    file: 'server/src/merchants/merchant-directory.ts',
    from: 'merchantsKnownForMs = 3_000;',
    to: 'merchantsKnownForMs = 3_000_000;',
  },
  {
    name: 'kept money: the money of a transfer that somebody cancels is not released',
    file: 'server/src/transfers/cancel-transfer.ts',
    from: '  await bookReleased(tx, context, locked);\n',
    to: '',
  },
  {
    name: 'waived twice: twice as much of a debt is waived as somebody has typed',
    file: 'server/src/settlement/waive-debt.ts',
    from: "    amountMinor,\n    otherwise: { type: 'sub_account', id: subAccount.id },",
    to: "    amountMinor: amountMinor * 2n,\n    otherwise: { type: 'sub_account', id: subAccount.id },",
  },
  {
    name: 'two codes: an amount that is typed at a counter’s screen by two taps is two payments',
    file: 'server/src/dashboard/counter-screen/counter-screen.ts',
    from: 'const formHash = hashOfForm({ ownerId: counter.id, formId, amountMinor });',
    to: 'const formHash = hashOfForm({ ownerId: counter.id, formId: visit.accounts.newId(), amountMinor });',
  },
  {
    name: 'counted only: what an endpoint has missed is counted at the dashboard, and not sent',
    file: 'server/src/dashboard/endpoints/resend-forms.ts',
    from: "...{ operationId: 'resendEvents', schema: resentEventsSchema, body, formId },",
    to: "...{ operationId: 'resendEvents', schema: resentEventsSchema, body: { ...body, dry_run: true }, formId },",
  },
  {
    name: 'unlogged run: payouts that an operator orders at the console begin without an entry in the log',
    file: 'server/src/console/businesses/settlement-run.ts',
    from: "    await entry('settlement.run', { period, sub_accounts: count });\n",
    to: '',
  },
  {
    name: 'two orders: of two operators who order an account at once, one undoes the other',
    file: 'server/src/rail-accounts/manage-accounts.ts',
    from: '  const account = await lockAccount(tx, name);\n  change(',
    to: '  const account = await getRailAccount(tx, name);\n  change(',
  },
  {
    name: 'two businesses: a form that is pressed twice creates two',
    file: 'server/src/console/businesses/business-forms.ts',
    from: 'visit.createBusiness(tx, { id, name })',
    to: 'visit.createBusiness(tx, { id: visit.accounts.newId(), name })',
  },
  {
    name: 'own approval: an operator approves a business that they have checked themselves',
    file: 'server/src/console/businesses/approval.ts',
    from: 'if (checks.some(({ checkedBy }) => checkedBy === operatorId)) {',
    to: 'if (checks.length === 0) {',
  },
  {
    name: 'two owners: each of two operators invites an owner',
    file: 'server/src/console/businesses/business-forms.ts',
    from: '      await lockBusiness(tx, id);\n',
    to: '',
  },
  {
    name: 'revoked twice: a key that two operators revoke at once stands in the log twice',
    file: 'server/src/portal/records/write-key.ts',
    from: '    if (revokedAt !== null) return;\n',
    to: '',
  },
  {
    name: 'nothing decided: an operator is told that a receipt paid, and it has not',
    file: 'server/src/console/receipts/receipt-pages.ts',
    from: '    if (receipt.chargeId === charge.id) return;\n',
    to: "    if (receipt.chargeId === charge.id || charge.id !== '') return;\n",
  },
  {
    name: 'lines twice: a statement that is uploaded once more has its lines again',
    file: 'server/src/reconciliation/import-lines.ts',
    from: '    if (found) {\n      Object.assign(found',
    to: '    if (found?.importId === importId) {\n      Object.assign(found',
  },
];
