import { networkQueue } from '../events/outbox.ts';
import type { NewWork } from '../events/work.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { Transfer } from './transfer.ts';

type Subject = Pick<Transfer, 'id' | 'network'>;

/** The order to hand a transfer to its network. */
export function sendWork({ id: merchantId, testMode }: Merchant, { id, network }: Subject): NewWork {
  return { merchantId, queue: networkQueue({ network, testMode }, 'payouts'), kind: 'send_transfer', subjectId: id };
}

/** The order to ask the network what became of it. */
export function lookUpWork({ id: merchantId, testMode }: Merchant, { id, network }: Subject): NewWork {
  return {
    merchantId,
    queue: networkQueue({ network, testMode }, 'look-ups'),
    kind: 'look_up_transfer',
    subjectId: id,
  };
}
