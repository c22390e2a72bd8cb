import Type from 'typebox';
import { amountType, idType, optional, orNull, timeType } from '../api/wire-types.ts';
import { statementKinds } from './statement.ts';

export const newPayoutSchema = Type.Object(
  { amount: optional(amountType('The amount to pay out, at least 1; defaults to the whole settled balance.')) },
  { additionalProperties: false },
);

export const waiverSchema = Type.Object(
  { amount: amountType('How much of its `owed_balance` to waive, at most all of it.') },
  { additionalProperties: false },
);

const sourceFields = {
  source_type: Type.String({
    description:
      '`charge`, `transfer` (also a payout), `refund`, `sub_account` for a debt that was repaid or waived, or `merchant` for the initial test money.',
  }),
  source_id: idType('The id of the charge, transfer, payout, refund or merchant behind it.'),
  reference: orNull(Type.String({ description: 'Its reference.' })),
};

const cursorMeta = Type.Object({ limit: Type.Integer(), next_cursor: orNull(Type.String()) });

export const statementSchema = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        id: idType('The id of the statement line.'),
        createdAt: timeType('When it was booked.'),
        kind: Type.Union(
          statementKinds.map((kind) => Type.Literal(kind)),
          { description: 'What happened.' },
        ),
        amount: amountType('Positive for a credit, negative for a debit.'),
        balance: amountType('The balance after it.'),
        ...sourceFields,
        description: orNull(Type.String({ description: 'The payment’s title.' })),
      }),
    ),
    sub_account: idType('The sub-account.'),
    currency: Type.String(),
    opening_balance: amountType('The balance at `from`.'),
    closing_balance: amountType('The balance at `to`, or now.'),
    owed_balance: Type.Optional(amountType('What it owed you at `to`, or owes you now; absent if nothing.')),
    meta: cursorMeta,
  },
  { title: 'SubAccountStatement' },
);

export const balanceMovementsSchema = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        id: idType('The movement.'),
        createdAt: timeType('When it was booked.'),
        flow: Type.String({
          description: 'The flow it belongs to: `collected`, `held`, `released`, `settled` and others.',
        }),
        amount: amountType('Positive for a credit, negative for a debit.'),
        balance: amountType('The balance after it.'),
        ...sourceFields,
      }),
    ),
    account: Type.String(),
    at: orNull(timeType('The moment explained.')),
    balance: amountType('The balance at that moment.'),
    currency: Type.String(),
    meta: cursorMeta,
  },
  { title: 'BalanceMovements' },
);
