import type { Session } from '../session.ts';
import type { WaveRoutesContext } from './context.ts';
import { serviceUnavailable, WaveError } from './wave-error.ts';

/**
 * Refunds the whole payment of a session, once however often it is asked. Returns whether the caller gets a response. Throws
 * WaveError; while the scenario keeps the refund pending, Wave is unavailable.
 */
export async function refundSession(context: WaveRoutesContext, session: Session): Promise<boolean> {
  const { network, simulator } = context;
  const { account, transactionId, amountPaidMinor: amountMinor, currency } = session;
  const result = await simulator.refund({
    ...{ network, account, reference: `refund-${session.id}`, transactionId, amountMinor, currency },
    ...{ description: 'Refund', callbackUrl: session.callbackUrl },
  });
  switch (result.kind) {
    case 'silent':
      return false;
    case 'payout':
      if (result.payout.status === 'completed') return true;
      throw result.payout.status === 'pending' ? serviceUnavailable() : refundFailed();
    case 'refused':
    case 'conflict':
      throw refundFailed();
    case 'not_accepted':
      throw serviceUnavailable();
    case 'float_empty':
      throw new WaveError(422, 'insufficient-funds', 'The wallet has too little money.');
  }
}

function refundFailed(): WaveError {
  return new WaveError(400, 'checkout-refund-failed', 'The session can’t be refunded.');
}
