import { AppError } from '../api/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { PaymentContext } from '../payments/context.ts';
import type { Intent } from '../payments/intent.ts';
import { getTerminalForPayment } from '../terminals/manage-terminals.ts';
import type { VirtualTerminal } from '../terminals/terminal.ts';
import { qrCodeUrl } from '../terminals/terminal-address.ts';
import { createPayerPayment } from './payer-payment.ts';

/**
 * Creates the intent of a payment at a counter. Reads the terminal again, so that one that was just switched off accepts no
 * payment.
 *
 * Throws AppErrors worded for the payer: `state_conflict` for a terminal that is inactive or deleted, and
 * `amount_out_of_bounds` naming `amount`.
 */
export async function payAtTerminal(
  tx: Transaction,
  context: PaymentContext,
  merchant: Merchant,
  terminal: Pick<VirtualTerminal, 'id'>,
  payment: { amountMinor: bigint; formHash: string | null },
): Promise<Intent> {
  const current = await getTerminalForPayment(tx, merchant.id, terminal.id);
  if (current.deletedAt !== null) {
    throw new AppError('state_conflict', 'This counter no longer exists. Ask the staff for another one.');
  }
  if (!current.active) {
    throw new AppError('state_conflict', 'This counter is not accepting payments. Ask the staff.');
  }
  const request = {
    amountMinor: payment.amountMinor,
    title: current.name,
    metadata: {
      qr_code_url: qrCodeUrl(context.settings, current),
      terminal_id: current.code,
      terminal_name: current.name,
    },
    origin: {
      source: 'terminal',
      paymentLinkId: null,
      terminalId: current.id,
      customFieldsValues: null,
      formHash: payment.formHash,
    },
  } as const;
  return createPayerPayment(tx, context, merchant, request, { choice: null, isAmountEntered: true });
}
