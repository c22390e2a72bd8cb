import { createHmac, timingSafeEqual } from 'node:crypto';
import { isUuid } from '../../kit/ids.ts';
import { isSameText } from '../../kit/same-text.ts';
import { parseJson } from '../channel.ts';

/** WhatsApp's delivery status of one message. */
export interface StatusUpdate {
  merchantId: string;
  noticeId: string;
  messageId: string;
  status: 'sent' | 'delivered' | 'read' | 'failed';
  /** Why it failed, if it did and WhatsApp says so. */
  errorCode: number | null;
}

/** `X-Hub-Signature-256: sha256=<hex>`, HMAC-SHA256 over the raw body. Compares in constant time. */
export function isSignedByWhatsapp(appSecret: string, body: Uint8Array, header: unknown): boolean {
  const [, hex] = /^sha256=([0-9a-f]{64})$/.exec(typeof header === 'string' ? header : '') ?? [];
  if (hex === undefined || appSecret === '') return false;
  return timingSafeEqual(Buffer.from(hex, 'hex'), createHmac('sha256', appSecret).update(body).digest());
}

/**
 * The challenge to return when WhatsApp verifies the callback URL; null for any other request. It is echoed to the caller,
 * so only letters, digits, `_` and `-` pass.
 */
export function verifyChallenge(verifyToken: string, query: Readonly<Record<string, unknown>>): string | null {
  const { 'hub.mode': mode, 'hub.verify_token': token, 'hub.challenge': challenge } = query;
  if (mode !== 'subscribe' || typeof challenge !== 'string' || !/^[\w-]{1,200}$/.test(challenge)) return null;
  return isSameText(typeof token === 'string' ? token : '', verifyToken) ? challenge : null;
}

/** The statuses in a callback. Those that are not understood, or not about a notice of ours, are ignored. */
export function readStatuses(body: Uint8Array): StatusUpdate[] {
  return childrenOf(parseJson(Buffer.from(body).toString()), 'entry')
    .flatMap((entry) => childrenOf(entry, 'changes'))
    .flatMap((change) => childrenOf((change as { value?: unknown } | null)?.value, 'statuses'))
    .flatMap((status) => readStatus((status ?? {}) as WireStatus) ?? []);
}

interface WireStatus {
  id?: unknown;
  status?: unknown;
  biz_opaque_callback_data?: unknown;
  errors?: unknown;
}

function readStatus({ id, status, biz_opaque_callback_data: tag, errors }: WireStatus): StatusUpdate | null {
  const [merchantId = '', noticeId = '', ...rest] = typeof tag === 'string' ? tag.split(':') : [];
  if (!isUuid(merchantId) || !isUuid(noticeId) || rest.length > 0) return null;
  if (typeof id !== 'string' || id === '') return null;
  if (status !== 'sent' && status !== 'delivered' && status !== 'read' && status !== 'failed') return null;
  const code = Array.isArray(errors) ? (errors[0] as { code?: unknown } | undefined)?.code : undefined;
  return { merchantId, noticeId, messageId: id, status, errorCode: typeof code === 'number' ? code : null };
}

function childrenOf(parent: unknown, name: string): unknown[] {
  const children = (parent as Record<string, unknown> | null | undefined)?.[name];
  return Array.isArray(children) ? children : [];
}
