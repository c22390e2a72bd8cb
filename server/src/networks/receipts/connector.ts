import { hourMs } from '../../kit/clock.ts';
import { formatAmount } from '../../kit/money.ts';
import type { CollectingConnector, CollectionResponse, LookUp, StartCollection } from '../contract.ts';
import { capabilitiesOf } from '../connector-account.ts';
import { refused, unknown } from '../response-values.ts';
import { readForwarded } from './forwarded-message.ts';

/** A shop's own number at a network, and the phone that forwards the messages about it. */
export interface Till {
  railAccount: string;
  network: string;
  testMode: boolean;
  merchantId: string | null;
  /** The number that payers send the money to, and whose it is. */
  number: string;
  holder: string;
  amountStepMinor: bigint;
  messageAgeMaxMs: number;
  /** The keys of the phone's gateway that are valid at a time. */
  keysAt: (at: Date) => readonly string[];
}

// The amount, for look-ups: they say again what the payer has to do.
const amountHandle = 'amount';

/**
 * Collects by receipts: the payer sends the money to the shop's own number, and a message of the network to the shop's phone
 * proves it. It calls nobody, so there is nothing to look up; what comes of a payment is decided when a message arrives.
 */
export function createReceiptsConnector(till: Till): CollectingConnector {
  const { amountStepMinor } = till;
  return {
    capabilities: capabilitiesOf(till.network, { ...till, callTimeoutMs: 0 }),
    collections: {
      capabilities: {
        ...{ shape: 'receipt', numberRequired: false, canCancel: true, decidesExpiry: true, amountStepMinor },
        ...{ lookUpDelaysMs: [hourMs], notFoundIsFinalAfterMs: 0, recheckAfterMs: [] },
      },
      start: async (request) => awaiting(till, request.reference, amountText(request)),
      continue: async () => unknown('a receipt proves a payment, and no code does'),
      cancel: async () => refused('cancelled', 'No receipt of this payment had arrived.'),
      lookUp: async (question) => stillAwaiting(till, question),
    },
    payouts: null,
    refunds: null,
    messages: { read: (message) => readForwarded(till, message) },
    readCallback: () => ({ accepted: false, reason: 'malformed' }),
  };
}

function amountText({ amountMinor }: StartCollection): string {
  return formatAmount(amountMinor, { style: 'plain' });
}

function awaiting({ number, holder }: Till, reference: string, amount: string): CollectionResponse {
  return {
    state: 'awaiting_payer',
    nextAction: { type: 'send_and_enter_id', toNumber: number, toName: holder, amount },
    networkReference: reference,
    handles: { [amountHandle]: amount },
  };
}

/** Without the amount the payer has seen nothing yet, so nothing was sent. */
function stillAwaiting(till: Till, { reference, handles }: LookUp): CollectionResponse {
  const amount = handles[amountHandle];
  return amount === undefined ? { state: 'not_found' } : awaiting(till, reference, amount);
}
