import Type from 'typebox';
import { amountType, idType, optional, orNull } from '../api/wire-types.ts';
import { outcomeFields } from '../transfers/transfer-wire.ts';

// Longer than every reference of a charge and than its id.
const referenceLengthMax = 100;

export const newRefundSchema = Type.Object(
  {
    reference: Type.String({
      minLength: 1,
      maxLength: referenceLengthMax,
      description: 'The transaction’s `reference`, `transaction_reference` or id.',
    }),
    amount: optional(amountType('The amount to refund; defaults to everything not refunded yet.')),
    money_returned: optional(
      Type.Boolean({
        description:
          'For a payment whose money went straight to your own number: `true` confirms that you have returned it. Nothing is sent.',
      }),
      { default: false },
    ),
  },
  { additionalProperties: false },
);

export const refundStatusSchema = Type.Union(['pending', 'completed', 'failed'].map((status) => Type.Literal(status)));

const refundShare = Type.Object(
  {
    sub_account: idType('The sub-account.'),
    amount: amountType('The part returned from its share.'),
    advanced: amountType('The part that the merchant advances for it; its next shares repay the advance.'),
  },
  { title: 'RefundShare' },
);

export const refundSchema = Type.Object(
  {
    id: idType('The refund.'),
    charge_id: idType('The charge that is refunded.'),
    payment_intent_id: idType('The charge’s intent.'),
    transaction_reference: Type.String({ description: 'The charge’s.' }),
    reference: Type.String({ description: 'Our reference for the refund, as sent to the network.' }),
    amount: amountType('The amount returned to the payer.'),
    currency: Type.String(),
    status: refundStatusSchema,
    route: Type.Union([Type.Literal('network'), Type.Literal('payout'), Type.Literal('record')], {
      description:
        '`network`: refunded by the network that collected it; `payout`: paid out to the payer’s number; `record`: you returned it yourself.',
    }),
    network: Type.String(),
    network_reference: orNull(Type.String()),
    network_transaction_id: orNull(Type.String({ description: 'The network’s transaction id.' })),
    amount_reversed: Type.Optional(
      amountType(
        'What the network returned to us in parts or did not pay: the payer does not have it. Omitted if there is none.',
      ),
    ),
    shares: Type.Array(refundShare, { description: 'The parts returned by sub-accounts; empty for a failed refund.' }),
    transaction_fee: amountType('The part of the fee that is returned; 0 if the business pays the fee.'),
    merchant_gives: amountType(
      'The merchant’s part, the rest. Negative when shares return rounding differences that the merchant ' +
        'had covered before.',
    ),
    advanced: amountType('What the merchant advances for sub-accounts, in addition to its own part.'),
    waiting_for: orNull(Type.String({ description: 'Why it has not been sent yet.' })),
    ...outcomeFields,
  },
  { title: 'Refund' },
);
