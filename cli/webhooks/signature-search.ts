import { createHmac } from 'node:crypto';
import type { Cause, CauseName } from './causes.ts';

/** One variant of a step in signing; `cause` is null for the correct one. */
export interface Choice<Value> {
  value: Value;
  cause: Cause | null;
}

export interface NamedSecret {
  name: string;
  secret: string;
}

/** How a header's signature is made, and the common mistakes on the way. */
export interface SignatureScheme {
  /** The signed text before the body. */
  heads: readonly Choice<string>[];
  keysOf: (secret: string) => Choice<Buffer>[];
  algorithms: readonly Choice<string>[];
  encodings: readonly Choice<(digest: Buffer) => string>[];
}

export interface SignatureSearch {
  scheme: SignatureScheme;
  bodies: readonly Choice<Buffer>[];
  secrets: readonly Choice<string>[];
  /** The signatures in the request. */
  signatures: readonly string[];
}

/**
 * Finds the mistake that leads to a signature of the request: `null` if it verifies, `undefined` if no single known mistake
 * does. It runs on the machine of the secret's owner, so that a comparison in constant time is not needed.
 */
export function findMistake({ scheme, bodies, secrets, signatures }: SignatureSearch): Cause | null | undefined {
  const candidates = secrets.flatMap((secret) =>
    scheme
      .keysOf(secret.value)
      .flatMap((key) =>
        scheme.heads.flatMap((head) =>
          bodies.flatMap((body) =>
            scheme.algorithms.flatMap((algorithm) =>
              scheme.encodings.map((encoding) => ({ secret, key, head, body, algorithm, encoding })),
            ),
          ),
        ),
      ),
  );
  return candidates
    .map((choices) => ({ choices, mistakes: Object.values(choices).flatMap(({ cause }) => cause ?? []) }))
    .filter(({ mistakes }) => mistakes.length <= 1)
    .toSorted((left, right) => left.mistakes.length - right.mistakes.length)
    .filter(({ choices: { key, head, body, algorithm, encoding } }) => {
      const digest = createHmac(algorithm.value, key.value).update(head.value).update(body.value).digest();
      return signatures.includes(encoding.value(digest));
    })
    .map(({ mistakes }) => mistakes[0] ?? null)[0];
}

function named(cause: CauseName): Cause {
  return { cause };
}

const hex = (digest: Buffer): string => digest.toString('hex');
const base64 = (digest: Buffer): string => digest.toString('base64');

/** The service's own header: lower-case hex HMAC-SHA512 of the body, keyed with the whole secret. */
export const serviceScheme: SignatureScheme = {
  heads: [{ value: '', cause: null }],
  keysOf: (secret) => [
    { value: Buffer.from(secret), cause: null },
    { value: Buffer.from(bareSecret(secret)), cause: named('key_not_whole') },
    { value: Buffer.from(bareSecret(secret), 'base64'), cause: named('key_not_whole') },
  ],
  algorithms: [
    { value: 'sha512', cause: null },
    { value: 'sha256', cause: named('sha256_for_sha512') },
  ],
  encodings: [
    { value: hex, cause: null },
    { value: base64, cause: named('base64_for_hex') },
  ],
};

/** Standard Webhooks: `v1,` and base64 HMAC-SHA256 of id, timestamp and body, keyed with the decoded secret. */
export function standardScheme({ id, timestamp }: { id: string; timestamp: string }): SignatureScheme {
  return {
    heads: [
      { value: `${id}.${timestamp}.`, cause: null },
      { value: '', cause: named('only_the_body_signed') },
    ],
    keysOf: (secret) => [
      { value: Buffer.from(bareSecret(secret), 'base64'), cause: null },
      { value: Buffer.from(bareSecret(secret)), cause: named('key_not_decoded') },
      { value: Buffer.from(secret), cause: named('key_not_decoded') },
    ],
    algorithms: [
      { value: 'sha256', cause: null },
      { value: 'sha512', cause: named('sha512_for_sha256') },
    ],
    encodings: [
      { value: (digest) => `v1,${base64(digest)}`, cause: null },
      { value: base64, cause: named('version_missing') },
      { value: (digest) => `v1,${hex(digest)}`, cause: named('hex_for_base64') },
    ],
  };
}

function bareSecret(secret: string): string {
  return secret.replace(/^wh_/, '');
}
