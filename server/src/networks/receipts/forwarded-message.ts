import { createHmac, timingSafeEqual } from 'node:crypto';
import { addMs } from '../../kit/clock.ts';
import { parseStrictJsonBytes, type JsonObject } from '../../kit/strict-json.ts';
import type { ForwardedMessage, MessageReading, RawCallback } from '../contract.ts';
import { isObject } from '../response-values.ts';

// What the two gateway applications for phones send (docs/receipts.md, "Set up the phone"). SMS Gateway for Android signs
// the body and a time; httpSMS sends a token that is signed, and does not sign the body.

interface MessageRules {
  /** Gateways repeat for days what was not acknowledged, some of them with the first signature. */
  messageAgeMaxMs: number;
  keysAt: (at: Date) => readonly string[];
}

// A phone's clock may be a few minutes ahead.
const futureMaxMs = 10 * 60_000;

/** Verifies a forwarded message and reads it. Never throws. */
export function readForwarded(rules: MessageRules, message: RawCallback): MessageReading {
  const { receivedAt, body, headers } = message;
  const keys = rules.keysAt(receivedAt).filter((key) => key !== '');
  const isToken = headers['x-signature'] === undefined;
  const signedAt = isToken ? tokenTime(keys, headers.authorization) : signatureTime(keys, message);
  if (signedAt === null) return { accepted: false, reason: 'signature' };
  if (!isFresh(rules, signedAt, receivedAt)) return { accepted: false, reason: 'stale' };
  const event = parsed(body);
  if (event === null) return { accepted: false, reason: 'malformed' };
  const read = isToken ? readHttpSms(event) : readSmsGateway(event);
  if (read === undefined) return { accepted: false, reason: 'malformed' };
  if (read !== null && !isFresh(rules, read.receivedAt, receivedAt)) return { accepted: false, reason: 'stale' };
  return { accepted: true, message: read, isSignOfLife: read === null && isSignOfLife(event) };
}

/** What the applications send at an interval, or when the phone is back. */
function isSignOfLife({ event, type }: JsonObject): boolean {
  return event === 'system:ping' || type === 'phone.heartbeat.online';
}

function isFresh({ messageAgeMaxMs }: MessageRules, time: Date, now: Date): boolean {
  return time >= addMs(now, -messageAgeMaxMs) && time <= addMs(now, futureMaxMs);
}

/** The time that an `X-Signature` is of; null for a wrong one. */
function signatureTime(keys: readonly string[], { headers, body }: RawCallback): Date | null {
  const { 'x-signature': signature, 'x-timestamp': seconds } = headers;
  if (typeof signature !== 'string' || typeof seconds !== 'string') return null;
  if (!/^[0-9a-f]{64}$/i.test(signature) || !/^\d{1,12}$/.test(seconds)) return null;
  const isSigned = keys.some((key) => isMac(createHmac('sha256', key).update(body).update(seconds), signature, 'hex'));
  return isSigned ? new Date(Number(seconds) * 1_000) : null;
}

const tokenForm = /^Bearer ([\w-]{1,500})\.([\w-]{1,2000})\.([\w-]{43})$/;

/** When a JWT with HS256 was issued; null for a wrong one. Its end is not judged: a gateway repeats a message for longer. */
function tokenTime(keys: readonly string[], authorization: string | undefined): Date | null {
  const [, head = '', claims = '', signature = ''] = tokenForm.exec(authorization ?? '') ?? [];
  const isSigned = keys.some((key) =>
    isMac(createHmac('sha256', key).update(`${head}.${claims}`), signature, 'base64url'),
  );
  // Any other algorithm, above all `none`, would be one that the sender chooses.
  if (!isSigned || parsed(Buffer.from(head, 'base64url'))?.['alg'] !== 'HS256') return null;
  const issuedAt = Number(parsed(Buffer.from(claims, 'base64url'))?.['iat']);
  return Number.isSafeInteger(issuedAt) ? new Date(issuedAt * 1_000) : null;
}

function isMac(mac: ReturnType<typeof createHmac>, signature: string, encoding: 'hex' | 'base64url'): boolean {
  const [expected, actual] = [mac.digest(), Buffer.from(signature, encoding)];
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

function parsed(bytes: Uint8Array): JsonObject | null {
  try {
    const value = parseStrictJsonBytes(bytes);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Undefined for an event that is not as documented. */
function readSmsGateway({ event, payload }: JsonObject): ForwardedMessage | null | undefined {
  if (typeof event !== 'string') return undefined;
  // A sign of life has no payload in some releases.
  if (event !== 'sms:received') return null;
  if (!isObject(payload)) return undefined;
  return messageOf(payload['phoneNumber'] ?? payload['sender'], payload['message'], payload['receivedAt']);
}

function readHttpSms({ type, data }: JsonObject): ForwardedMessage | null | undefined {
  if (typeof type !== 'string' || !isObject(data)) return undefined;
  if (type !== 'message.phone.received') return null;
  return messageOf(data['contact'], data['content'], data['timestamp']);
}

function messageOf(sender: unknown, text: unknown, time: unknown): ForwardedMessage | undefined {
  if (typeof sender !== 'string' || typeof text !== 'string' || typeof time !== 'string') return undefined;
  const receivedAt = new Date(time);
  return Number.isNaN(receivedAt.getTime()) ? undefined : { sender, text, receivedAt };
}
