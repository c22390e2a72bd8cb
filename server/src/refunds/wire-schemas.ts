import Type from 'typebox';
import { amountType, idType, optional, orNull, timeType } from '../kit/wire-types.ts';

// Longer than every reference of a charge and than its id.
const referenceLengthMax = 100;

export const newRefundSchema = Type.Object(
  {
    reference: Type.String({
      minLength: 1,
      maxLength: referenceLengthMax,
      description: 'The transaction’s `reference` or `transaction_reference`; its id is taken too.',
    }),
    amount: optional(amountType('What is given back; all that is left where it is not sent.')),
  },
  { additionalProperties: false },
);

export const refundStatusSchema = Type.Union(['pending', 'completed', 'failed'].map((status) => Type.Literal(status)));

const refundShare = Type.Object(
  {
    sub_account: idType('The sub-account.'),
    amount: amountType('What its share gives back.'),
    advanced: amountType('How much of it the merchant gives in its place; its next shares repay that.'),
  },
  { title: 'RefundShare' },
);

export const refundSchema = Type.Object(
  {
    id: idType('The refund.'),
    charge_id: idType('The charge that is refunded.'),
    payment_intent_id: idType('The charge’s intent.'),
    transaction_reference: Type.String({ description: 'The charge’s.' }),
    reference: Type.String({ description: 'Our reference of the refund, the one the network has.' }),
    amount: amountType('What goes back to the payer.'),
    currency: Type.String(),
    status: refundStatusSchema,
    route: Type.Union([Type.Literal('network'), Type.Literal('payout')], {
      description: '`network`: given back by the network that collected it; `payout`: paid out to the payer’s number.',
    }),
    network: Type.String(),
    network_reference: orNull(Type.String()),
    network_transaction_id: orNull(Type.String({ description: 'The network’s id of the money.' })),
    shares: Type.Array(refundShare, { description: 'What sub-accounts give back; empty once a refund has failed.' }),
    transaction_fee: amountType('What of the fee goes back; 0 where the business pays the fee.'),
    merchant_gives: amountType('The rest; below 0 where shares make up for bututs that it gave for them before.'),
    advanced: amountType('What the merchant gives in the place of sub-accounts, beside its own part.'),
    waiting_for: orNull(Type.String({ description: 'Why it is not sent just now.' })),
    failure_code: orNull(Type.String()),
    failure_reason: orNull(Type.String()),
    review: orNull(Type.String({ description: 'Why it waits for a person.' })),
    account_id: idType('The merchant in this environment.'),
    business_id: idType('The business.'),
    test_mode: Type.Boolean(),
    createdAt: timeType('When it was accepted.'),
    updatedAt: timeType('When it last changed.'),
    completed_at: orNull(timeType('When the network’s success was booked.')),
  },
  { title: 'Refund' },
);
