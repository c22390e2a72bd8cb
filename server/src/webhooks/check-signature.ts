import { isSameText } from '../kit/same-text.ts';
import { openOrNull } from '../kit/seal.ts';
import type { WebhookContext } from './context.ts';
import { openSecrets } from './endpoint-secret.ts';
import { getEndpoint } from './manage-endpoints.ts';
import { listEndpointsByMerchant } from './queries/endpoints.ts';
import { signatureHeaders } from './signature.ts';

/** A request as a receiver got it. */
export interface ReceivedWebhook {
  body: string;
  /** Of the service's own header, or of `webhook-signature`. */
  signature: string;
  /** `webhook-id` and `webhook-timestamp`; only `webhook-signature` covers them. */
  id: string;
  timestamp: string;
}

/**
 * `late`: it verifies, but is older than receivers should accept. `changed_body`: it verifies once the body is written as it was
 * sent, so the receiver's framework changed it. `other_endpoint`: another endpoint's secret signed it. `lost_secret`: nobody can open
 * the endpoint's secret, because the SEAL_KEY of its time is lost.
 */
export type SignatureFinding =
  | 'verified'
  | 'verified_previous'
  | 'late'
  | 'changed_body'
  | 'other_endpoint'
  | 'lost_secret'
  | 'no_signature'
  | 'no_timestamp'
  | 'mismatch';

// As Standard Webhooks advises receivers.
const toleranceMs = 5 * 60_000;

type Context = Pick<WebhookContext, 'db' | 'clock' | 'sealer' | 'signatureHeader'>;

/** Whether a request verifies with an endpoint's secrets, and why not. Throws AppError `not_found`. */
export async function checkSignature(
  context: Context,
  merchantId: string,
  { endpointId, received }: { endpointId: string; received: ReceivedWebhook },
): Promise<SignatureFinding> {
  const { db, clock, sealer, signatureHeader } = context;
  const endpoint = await getEndpoint(db, merchantId, endpointId);
  const signature = received.signature.trim();
  const isStandard = signature.includes('v1,');
  if (signature === '') return 'no_signature';
  if (isStandard && !/^\d{9,11}$/.test(received.timestamp.trim())) return 'no_timestamp';
  await sealer.prepare();
  const now = clock.now();
  const sentAt = new Date(Number(received.timestamp.trim()) * 1_000);
  const verifies = (secret: string, body: string): boolean => {
    const message = { id: received.id.trim(), sentAt: isStandard ? sentAt : now, body: Buffer.from(body) };
    const headers = signatureHeaders(message, { current: secret, previous: null }, signatureHeader);
    const expected = headers[isStandard ? 'webhook-signature' : signatureHeader] ?? '';
    return signature.split(/\s+/).some((each) => isSameText(each, expected));
  };
  const own = openOrNull(() => openSecrets(sealer, endpoint)(now));
  if (own === null) return 'lost_secret';
  const { current, previous } = own;
  const secrets = [current, ...(previous === null ? [] : [previous])];
  const found = secrets.find((secret) => verifies(secret, received.body));
  if (found !== undefined) {
    if (isStandard && Math.abs(now.getTime() - sentAt.getTime()) > toleranceMs) return 'late';
    return found === current ? 'verified' : 'verified_previous';
  }
  if (asSent(received.body).some((body) => secrets.some((secret) => verifies(secret, body)))) return 'changed_body';
  const others = (await listEndpointsByMerchant(db, merchantId)).filter(({ id }) => id !== endpoint.id);
  const isOther = others.some((other) => {
    const opened = openOrNull(() => openSecrets(sealer, other)(now));
    return opened !== null && verifies(opened.current, received.body);
  });
  return isOther ? 'other_endpoint' : 'mismatch';
}

/** How the body may have been sent: without what a framework or an editor adds. */
function asSent(body: string): string[] {
  const trimmed = body.trim();
  try {
    return [trimmed, JSON.stringify(JSON.parse(trimmed))];
  } catch {
    return [trimmed];
  }
}
