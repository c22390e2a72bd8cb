/** What moved a balance, in words: the flow of the ledger, the kind of record behind it, and the direction. */
export function movementText({ flow, type, isCredit }: { flow: string; type: string; isCredit: boolean }): string {
  if (flow === 'held') return type === 'refund' ? 'Refund' : 'Transfer, or the fee of a payout';
  if (isReturn.has(flow)) return returnText(type, isCredit);
  return flowTexts.get(flow)?.[isCredit ? 'credit' : 'debit'] ?? 'Correction';
}

const isReturn = new Set(['released', 'transfer_reversed', 'late_success_reversed', 'refund_undone']);

function returnText(type: string, isCredit: boolean): string {
  if (!isCredit) return 'Given back to a sub-account';
  return type === 'refund' ? 'Refund failed, the money is back' : 'Transfer did not arrive, the money is back';
}

const repaidOperator = 'Repaid what you owed the operator';
const flowTexts = new Map([
  ['collected', { credit: 'Payment', debit: 'Part of a payment for others' }],
  ['accepted', { credit: 'Payment, accepted after a check', debit: 'Part of a payment for others' }],
  ['settled', { credit: 'Payment settled', debit: 'Settled: it can now be paid out' }],
  ['test_money', { credit: 'Test money', debit: 'Test money' }],
  ['reversed', { credit: 'Correction of a payment', debit: 'Taken back by the network' }],
  ['debt_repaid', { credit: 'Repaid', debit: repaidOperator }],
  ['debt_reopened', { credit: 'Advanced by the operator', debit: repaidOperator }],
  ['debt_undone', { credit: 'Advanced by the operator', debit: repaidOperator }],
  ['fee_owed', { credit: 'Fee of a payout, advanced by the operator', debit: repaidOperator }],
  ['advance_repaid', { credit: 'A sub-account repaid you', debit: 'Given back to a sub-account' }],
  ['repayment_returned', { credit: 'Repayment returned', debit: 'Repayment returned to a sub-account' }],
  ['refund_rounding', { credit: 'Rounding of a refund', debit: 'Rounding of a refund' }],
  ['late_success', { credit: 'Correction of a transfer', debit: 'Transfer that arrived after all' }],
  ['share_kept', { credit: 'Share of a deleted sub-account', debit: 'Share of a deleted sub-account' }],
  ['share_accepted', { credit: 'Share of a deleted sub-account', debit: 'Share of a deleted sub-account' }],
]);
