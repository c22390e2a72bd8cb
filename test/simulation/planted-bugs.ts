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
];
