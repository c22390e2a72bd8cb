import { callbackSigningSecret } from '../../simulator/credentials.ts';
import { signCallback } from '../../simulator/sign-callback.ts';
import type { OutgoingCall } from './calls.ts';
import type { Choices } from './choices.ts';
import { otherAmount, referenceOf, type Contradiction } from './contradictions.ts';

type Body = Record<string, unknown>;

// The network that signs its callbacks.
const signedPath = /^\/networks\/wave/;
const signatureHeader = 'wave-signature';
// Longer than a signature is accepted, by a machine whose clock may be an hour behind.
const staleMs = 3 * 60 * 60 * 1_000;

export interface FalseCallbackOptions {
  /** From which the networks derive what they sign with. */
  callbackSecret: string;
  choices: Choices;
}

/** A network signs what is not so: another amount, or a payment that nobody has made. Null where the call is no signed callback. */
export function signFalsely(
  call: OutgoingCall,
  { callbackSecret, choices }: FalseCallbackOptions,
): { call: OutgoingCall; contradiction: Contradiction } | null {
  const said = falseContent(call, choices);
  if (said === null) return null;
  const { reference, body } = said;
  const signature = signCallback(callbackSigningSecret(callbackSecret, 'wave'), { sentAt: signedAt(call), body });
  return {
    call: { ...call, headers: { ...call.headers, [signatureHeader]: signature }, body: Buffer.from(body) },
    contradiction: { kind: 'signed_callback', reference },
  };
}

/** Somebody on the way changes what a network says, or repeats it later. The network, which is refused, says it again. */
export function forge(call: OutgoingCall, { callbackSecret, choices }: FalseCallbackOptions): OutgoingCall | null {
  const said = falseContent(call, choices);
  if (said === null) return null;
  const sentAt = signedAt(call);
  const { [signatureHeader]: signature = '', ...headers } = call.headers;
  const signed = (header: string, body: string): OutgoingCall => ({
    ...call,
    headers: { ...headers, [signatureHeader]: header },
    body: Buffer.from(body),
  });
  const secret = callbackSigningSecret(callbackSecret, 'wave');
  const [original, longAgo] = [call.body.toString('utf8'), new Date(sentAt.getTime() - staleMs)];
  return choices.pick([
    () => signed(signature, said.body),
    () => signed(signCallback('of somebody else', { sentAt, body: said.body }), said.body),
    () => ({ ...call, headers, body: Buffer.from(said.body) }),
    () => signed(signCallback(secret, { sentAt: longAgo, body: original }), original),
  ])();
}

function falseContent({ url, body }: OutgoingCall, choices: Choices): { reference: string; body: string } | null {
  if (!signedPath.test(url.pathname)) return null;
  const event = JSON.parse(body.toString('utf8')) as { type: string; data: Body };
  const reference = referenceOf(event.data);
  if (typeof reference !== 'string') return null;
  if (event.type === 'checkout.session.completed') {
    Object.assign(event.data, otherAmount(event.data, choices));
  } else {
    const transactionId = `T_${choices.below(1_000_000)}`;
    event.type = 'checkout.session.completed';
    Object.assign(event.data, {
      checkout_status: 'complete',
      payment_status: 'succeeded',
      transaction_id: transactionId,
    });
  }
  return { reference, body: JSON.stringify(event) };
}

function signedAt({ headers }: OutgoingCall): Date {
  const [, seconds] = /^t=(\d+)/.exec(headers[signatureHeader] ?? '') ?? [];
  return new Date(Number(seconds) * 1_000);
}
