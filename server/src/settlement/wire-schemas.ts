import Type from 'typebox';
import { amountType, idType, optional, orNull, timeType } from '../kit/wire-types.ts';
import { statementKinds } from './statement.ts';

export const newPayoutSchema = Type.Object(
  { amount: optional(amountType('How much of the settled balance to pay out, from 1; all of it unless given.')) },
  { additionalProperties: false },
);

export const deletedSchema = Type.Object({ id: idType('The sub-account.'), deleted: Type.Boolean() });

const sourceFields = {
  source_type: Type.String({
    description:
      '`charge`, `transfer` (also a payout), `refund`, `sub_account` for a debt that was repaid or waived, or `merchant` for the test money it began with.',
  }),
  source_id: idType('Of the charge, transfer, payout, refund or merchant.'),
  reference: orNull(Type.String({ description: 'Its reference.' })),
};

const cursorMeta = Type.Object({ limit: Type.Integer(), next_cursor: orNull(Type.String()) });

export const statementSchema = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        id: idType('The line.'),
        createdAt: timeType('When it was booked.'),
        kind: Type.Union(
          statementKinds.map((kind) => Type.Literal(kind)),
          { description: 'What happened.' },
        ),
        amount: amountType('Above zero where the sub-account got it, below where it gave it.'),
        balance: amountType('What the sub-account had after it.'),
        ...sourceFields,
        description: orNull(Type.String({ description: 'The payment’s title.' })),
      }),
    ),
    sub_account: idType('Whose statement it is.'),
    currency: Type.String(),
    opening_balance: amountType('What the sub-account had at `from`.'),
    closing_balance: amountType('What it had at `to`, or has now.'),
    owed_balance: Type.Optional(
      amountType('What it owed you at `to`, or owes you now; left out where that is nothing.'),
    ),
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
        flow: Type.String({ description: 'The rule that moved it: `collected`, `held`, `released`, `settled`, …' }),
        amount: amountType('Above zero where it came, below where it went.'),
        balance: amountType('What there was after it.'),
        ...sourceFields,
      }),
    ),
    account: Type.String(),
    at: orNull(timeType('The moment that was asked about.')),
    balance: amountType('What there was at that moment, or is now.'),
    currency: Type.String(),
    meta: cursorMeta,
  },
  { title: 'BalanceMovements' },
);
