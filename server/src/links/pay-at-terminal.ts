import { AppError } from '../kit/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { PaymentContext } from '../payments/context.ts';
import { createPayment } from '../payments/create-payment.ts';
import type { Intent } from '../payments/intent.ts';
import { getTerminalForPayment } from '../terminals/manage-terminals.ts';
import type { VirtualTerminal } from '../terminals/terminal.ts';
import { qrCodeUrl } from '../terminals/terminal-address.ts';
import { byPayer } from './by-payer.ts';
import { withPayerFields } from './payer-fields.ts';

/**
 * Makes the intent of a payment at a counter; the caller leads the payer on to its page, `paymentLink(context, intent)`.
 * The terminal is read anew, so one that was switched off a moment ago takes nothing.
 *
 * Throws AppErrors in words for a payer: `state_conflict` for a terminal that is off or was deleted,
 * `amount_out_of_bounds` naming `amount`.
 */
export async function payAtTerminal(
  tx: Transaction,
  context: PaymentContext,
  merchant: Merchant,
  terminal: Pick<VirtualTerminal, 'id'>,
  payment: { amountMinor: bigint },
): Promise<Intent> {
  const current = await getTerminalForPayment(tx, merchant.id, terminal.id);
  if (current.deletedAt !== null) {
    throw new AppError('state_conflict', 'This counter no longer exists. Ask the staff for another one.');
  }
  if (!current.active) {
    throw new AppError('state_conflict', 'This counter takes no payments at the moment. Ask the staff.');
  }
  const { intent } = await withPayerFields(true, () =>
    createPayment(tx, context, merchant, {
      ...byPayer,
      amountMinor: payment.amountMinor,
      title: current.name,
      metadata: {
        qr_code_url: qrCodeUrl(context.settings, current),
        terminal_id: current.code,
        terminal_name: current.name,
      },
      origin: { source: 'terminal', paymentLinkId: null, terminalId: current.id, customFieldsValues: null },
    }),
  );
  return intent;
}
