import type { OutgoingCall } from './calls.ts';
import type { Choices } from './choices.ts';

type Body = Record<string, unknown>;

/**
 * A network says what is not so: another outcome or amount in the response to a look-up, a callback that nobody signed or that it has
 * signed, a line of its statement, or none where one should be; or somebody else says it in a network's name.
 */
export const falseKinds = [
  'false_look_up',
  'false_amount',
  'false_callback',
  'signed_callback',
  'forged_callback',
  'false_statement',
  'missing_line',
] as const;
export type FalseKind = (typeof falseKinds)[number];

/** What a network said that is not so. */
export interface Contradiction {
  kind: FalseKind;
  /** Ours of the payment or payout; in a statement, the network's transaction. */
  reference: string;
  /** Of a missing line: whether money came in. */
  isIncoming?: boolean;
}

/** Turns what a network says into what is not so; null where it says nothing final. */
export function contradict(
  kind: 'false_look_up' | 'false_amount' | 'false_callback',
  { method, url }: Pick<OutgoingCall, 'method' | 'url'>,
  { text, choices }: { text: Buffer; choices: Choices },
): { contradiction: Contradiction; text: Buffer } | null {
  const isCallback = /^\/networks\/(?:gsma|54pay)/.test(url.pathname);
  const isLookUp = method === 'GET' && url.pathname.startsWith('/simulator/networks/');
  if (kind === 'false_callback' ? !isCallback : !isLookUp) return null;
  if (!text.toString('utf8').startsWith('{')) return null;
  const body = JSON.parse(text.toString('utf8')) as Body;
  const [found] = (body['result'] ?? [body]) as Body[];
  if (found === undefined) return null;
  const reference = referenceOf(found);
  const change = kind === 'false_amount' ? otherAmount(found, choices) : otherOutcome(found, choices);
  if (typeof reference !== 'string' || change === null) return null;
  Object.assign(found, change);
  return { contradiction: { kind, reference }, text: Buffer.from(JSON.stringify(body)) };
}

/** Ours of a payment or payout, in a request or a response. */
export function referenceOf(body: Body): unknown {
  const wave = body['client_reference'];
  const gsma = body['requestingOrganisationTransactionReference'];
  return wave ?? gsma ?? body['merchant_reference'] ?? body['transactionReference'];
}

/** In the words of each network's wire (`simulator/wave`, `gsma` and `54pay`). */
function otherOutcome(body: Body, choices: Choices): Body | null {
  const { checkout_status: session, transactionStatus: transaction, status, amount } = body;
  if (session === 'complete') return { checkout_status: 'expired', payment_status: 'cancelled', transaction_id: null };
  if (session === 'expired') {
    const transactionId = `T_${choices.below(1_000_000)}`;
    return { checkout_status: 'complete', payment_status: 'succeeded', transaction_id: transactionId };
  }
  if (transaction === 'completed') return { transactionStatus: 'reversed' };
  switch (status) {
    case 'succeeded':
      return choices.below(2) === 0 ? { status: 'reversed' } : { status: 'failed', payout_error: notActive };
    case 'failed':
      return { status: 'succeeded', payout_error: null };
    case 'COMPLETED':
      return { status: 'FAILED', transaction_status: 'FAILED', amount_received: 0 };
    case 'FAILED':
      return { status: 'COMPLETED', transaction_status: 'Funds Received', amount_received: amount };
    default:
      return null;
  }
}

/** Of what was paid, in the words of each wire; null where nothing was. */
export function otherAmount(body: Body, choices: Choices): Body | null {
  const { checkout_status: session, transactionStatus: transaction, status } = body;
  const [name] = Object.keys(body).filter((one) => amountNames.includes(one));
  const isPaid = [session, transaction, status].some((one) => paidStatuses.includes(String(one)));
  if (name === undefined || !isPaid) return null;
  const minor = Math.round(Number(body[name]) * 100);
  const otherMinor = choices.pick([minor * 2, minor + 100, minor + 1, Math.max(1, minor - 1)]);
  const other = (otherMinor / 100).toFixed(2);
  return { [name]: typeof body[name] === 'number' ? Number(other) : other };
}

const amountNames = ['amount', 'receive_amount', 'amount_received'];
const paidStatuses = ['complete', 'completed', 'succeeded', 'COMPLETED'];

const notActive = { error_code: 'recipient-account-inactive', error_message: 'The recipient has no active account.' };
