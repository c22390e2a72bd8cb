import { createCipheriv, createDecipheriv, createSecretKey, hash, type KeyObject } from 'node:crypto';
import { assert } from './assert.ts';
import { systemRandom } from './random.ts';

/**
 * A malformed key, or a sealed value that cannot be opened because its key is not configured or the value was changed. The
 * message contains neither keys nor plain text.
 */
export class SealError extends Error {
  override name = 'SealError';
  readonly reason: UnreadableReason;

  constructor(message: string, reason: UnreadableReason = 'damaged') {
    super(message);
    this.reason = reason;
  }
}

export const unreadableReasons = ['key_missing', 'damaged'] as const;
export type UnreadableReason = (typeof unreadableReasons)[number];

/** What `read` returns; null where it throws SealError, because the key is lost or the value was changed. */
export function openOrNull<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof SealError) return null;
    throw error;
  }
}

/** Encrypts values that are stored in the database but must not be readable there. */
export interface Sealer {
  /** The id of the sealing key, as sealed values carry it: eight hex digits. */
  readonly keyId: string;
  /**
   * Await it before a transaction that may seal. A running service's sealer checks with a query of its own whether its key may
   * seal; rejects when that query fails.
   */
  prepare(): Promise<void>;
  /**
   * `context` names the value and its owner; it is not stored, and `open` needs the same one. A running service's sealer throws
   * `unavailable` while its key may not seal.
   */
  seal(plain: Uint8Array | string, context: string): Buffer;
  /** Throws SealError when the value was changed, moved to another context, or sealed with an unknown key. */
  open(sealed: Uint8Array, context: string): Buffer;
}

/**
 * Seals with AES-256-GCM under the first key; values sealed under the older ones still open, so that a key can be rotated
 * before its values are resealed. A key is 32 bytes as 64 hex digits or as base64. Throws SealError.
 *
 * A sealed value is: version (1 byte), key id (4), nonce (12), ciphertext, tag (16). The nonce is random, which is safe
 * for 2^32 values under one key (NIST SP 800-38D, 8.3).
 */
export function createSealer(key: string, olderKeys: readonly string[] = []): Sealer {
  const sealing = readKey(key);
  const known = [sealing, ...olderKeys.map(readKey)];
  return {
    keyId: sealing.id.toString('hex'),
    prepare: () => Promise.resolve(),
    seal: (plain, context) => seal(sealing, { plain, context }),
    open: (sealed, context) => open(known, { sealed: Buffer.from(sealed), context }),
  };
}

/** The same sealer, which also calls `onUnreadable` for each value that cannot be opened. */
export function watchSealer(sealer: Sealer, onUnreadable: (reason: UnreadableReason) => void): Sealer {
  return {
    ...sealer,
    open: (sealed, context) => {
      try {
        return sealer.open(sealed, context);
      } catch (error) {
        if (error instanceof SealError) onUnreadable(error.reason);
        throw error;
      }
    },
  };
}

/** The id of a key. Throws SealError. */
export function keyIdOf(key: string): string {
  return readKey(key).id.toString('hex');
}

/** The id of the key under which the value was sealed. */
export function keyIdOfSealed(sealed: Uint8Array): string {
  return Buffer.from(sealed.subarray(1, headerBytes)).toString('hex');
}

/**
 * In SQL: the id of the key under which a column's value was sealed, as eight hex digits. Only this file knows where the id is
 * in a sealed value.
 */
export function sealedKeyIdSql(column: string): string {
  return `encode(substring(${column} from 2 for ${keyIdBytes}), 'hex')`;
}

interface SealingKey {
  id: Buffer;
  key: KeyObject;
}

const algorithm = 'aes-256-gcm';
const version = 1;
const keyBytes = 32;
const keyIdBytes = 4;
const nonceBytes = 12;
const tagBytes = 16;
const headerBytes = 1 + keyIdBytes;
const overheadBytes = headerBytes + nonceBytes + tagBytes;

function seal(key: SealingKey, value: { plain: Uint8Array | string; context: string }): Buffer {
  const header = Buffer.from([version, ...key.id]);
  // Never from an injected Random: a nonce that repeats under one key reveals the plain text.
  const nonce = systemRandom.bytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key.key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(additionalData(header, value.context));
  const ciphertext = cipher.update(typeof value.plain === 'string' ? Buffer.from(value.plain) : value.plain);
  return Buffer.concat([header, nonce, ciphertext, cipher.final(), cipher.getAuthTag()]);
}

function open(known: readonly SealingKey[], value: { sealed: Buffer; context: string }): Buffer {
  const { sealed, context } = value;
  if (sealed.length < overheadBytes) throw new SealError('the sealed value is too short to be one');
  if (sealed[0] !== version) throw new SealError('the sealed value has a version that this program does not know');
  const header = sealed.subarray(0, headerBytes);
  const id = keyIdOfSealed(sealed);
  const key = known.find((candidate) => candidate.id.toString('hex') === id);
  if (!key) throw new SealError(`the value was sealed with the key ${id}, which is not configured`, 'key_missing');
  const nonce = sealed.subarray(headerBytes, headerBytes + nonceBytes);
  const decipher = createDecipheriv(algorithm, key.key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(additionalData(header, context));
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  const plain = decipher.update(sealed.subarray(headerBytes + nonceBytes, -tagBytes));
  try {
    return Buffer.concat([plain, decipher.final()]);
  } catch {
    throw new SealError('the sealed value was changed, or belongs to another context');
  }
}

function additionalData(header: Buffer, context: string): Buffer {
  assert(context !== '', 'a sealed value has a context');
  return Buffer.concat([header, Buffer.from(context)]);
}

function readKey(text: string): SealingKey {
  const bytes = parseKey(text);
  if (!bytes) {
    throw new SealError('a sealing key is 32 random bytes as 64 hex digits or as base64: openssl rand -base64 32');
  }
  return { id: hash('sha256', bytes, 'buffer').subarray(0, keyIdBytes), key: createSecretKey(bytes) };
}

/** The 32 bytes of a key as 64 hex digits or as base64; null for any other text. */
export function parseKey(text: string): Buffer | null {
  const isHex = /^[0-9a-f]{64}$/i.test(text);
  const bytes = Buffer.from(text, isHex ? 'hex' : 'base64');
  // Buffer.from skips invalid characters, so without the comparison a mistyped key would become another key.
  const isWhole = isHex || text === bytes.toString('base64') || text === bytes.toString('base64url');
  return isWhole && bytes.length === keyBytes ? bytes : null;
}
