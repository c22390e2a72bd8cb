import { createHmac } from 'node:crypto';
import type { BodyVariant } from './body-variants.ts';
import type { Cause, CauseName } from './causes.ts';

/** One of several possibilities on the way to a signature; no cause when it is the right one. */
interface Choice<Value> {
  value: Value;
  cause: Cause | null;
}

export interface NamedSecret {
  name: string;
  secret: string;
}

/** How a header's signature is made, and each known mistake on the way. */
export interface SignatureScheme {
  /** What is signed; `null` stands for the body alone. */
  contents: readonly Choice<string | null>[];
  keysOf: (secret: string) => Choice<Buffer>[];
  algorithms: readonly Choice<string>[];
  writings: readonly Choice<(digest: Buffer) => string>[];
}

export interface SignatureSearch {
  scheme: SignatureScheme;
  bodies: readonly BodyVariant[];
  secrets: readonly Choice<string>[];
  /** What was sent. */
  signatures: readonly string[];
}

// Three mistakes in one place are more than anybody has made yet; beyond that, chance explains as well.
const mistakesMax = 3;
// A large body is hashed a hundred times for each further mistake.
const mistakesMaxLarge = 2;
const largeBytes = 256 * 1024;
// A cut signature must be long enough that nobody finds its beginning by chance.
const cutCharactersMin = 16;

/**
 * Finds the fewest mistakes that lead to what was sent: none when it verifies, null when no known ones do. What is
 * compared here is the sender's own, on the machine of whoever owns the secret, so the time it takes tells nobody.
 */
export function findMistakes(search: SignatureSearch): Cause[] | null {
  let best: Cause[] | null = null;
  for (const { key, body, content, algorithm, causes } of waysToSign(search)) {
    if (best && causes.length >= best.length) break;
    const digest = createHmac(algorithm, key).update(content).update(body).digest();
    const written = compare(digest, search.signatures, search.scheme.writings);
    const all = written && [...causes, ...written];
    if (all && (!best || all.length < best.length)) best = all;
  }
  return best;
}

/** Every way that is not too far off, the ones with the fewest mistakes first. */
function waysToSign({ bodies, secrets, scheme }: SignatureSearch) {
  const mistakesLimit = (bodies[0]?.body.length ?? 0) > largeBytes ? mistakesMaxLarge : mistakesMax;
  const keys = secrets.flatMap((secret) => scheme.keysOf(secret.value).map((key) => ({ secret, key })));
  const signed = bodies.flatMap((variant) => scheme.contents.map((content) => ({ variant, content })));
  const ways = keys.flatMap(({ secret, key }) =>
    signed.flatMap(({ variant, content }) =>
      scheme.algorithms.map((algorithm) => ({
        key: key.value,
        body: variant.body,
        content: content.value ?? '',
        algorithm: algorithm.value,
        causes: causesOf(secret, key, variant, content, algorithm),
      })),
    ),
  );
  return ways
    .filter(({ causes }) => causes.length <= mistakesLimit)
    .toSorted((left, right) => left.causes.length - right.causes.length);
}

function causesOf(...choices: { cause: Cause | null }[]): Cause[] {
  return choices.flatMap(({ cause }) => cause ?? []);
}

/** The mistakes in how the digest was written, none when it was written right, null when it was not this digest. */
function compare(digest: Buffer, signatures: readonly string[], writings: SignatureScheme['writings']): Cause[] | null {
  let cut: Cause[] | null = null;
  for (const { value: write, cause } of writings) {
    const expected = write(digest);
    for (const signature of signatures) {
      const mistakes = cause ? [cause] : [];
      if (signature === expected) return mistakes;
      const bare = withoutPadding(signature);
      if (bare === expected) return [...mistakes, { cause: 'signature_padded' }];
      if (bare.length >= cutCharactersMin && expected.startsWith(bare))
        cut ??= [...mistakes, { cause: 'signature_cut' }];
    }
  }
  return cut;
}

/** `sha512=…`, quotes, spaces: what people and libraries put around a signature. */
function withoutPadding(signature: string): string {
  return signature
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2')
    .replace(/^(?:sha\d+|hmac|signature)[=:]\s*/i, '');
}

function named(cause: CauseName): Cause {
  return { cause };
}

const hex = (digest: Buffer): string => digest.toString('hex');
const base64 = (digest: Buffer): string => digest.toString('base64');

/** The service's own header: lower-case hex HMAC-SHA512 of the body, keyed with the whole secret. */
export const serviceScheme: SignatureScheme = {
  contents: [{ value: null, cause: null }],
  keysOf: (secret) => [
    { value: Buffer.from(secret), cause: null },
    { value: Buffer.from(bareSecret(secret)), cause: named('key_without_prefix') },
    { value: Buffer.from(bareSecret(secret), 'base64'), cause: named('key_decoded') },
  ],
  algorithms: [
    { value: 'sha512', cause: null },
    { value: 'sha256', cause: named('sha256_for_sha512') },
    { value: 'sha1', cause: named('sha1') },
  ],
  writings: [
    { value: hex, cause: null },
    { value: (digest) => hex(digest).toUpperCase(), cause: named('upper_case_hex') },
    { value: base64, cause: named('base64_for_hex') },
    { value: (digest) => digest.toString('base64url'), cause: named('base64_for_hex') },
  ],
};

/** Standard Webhooks: `v1,` and base64 HMAC-SHA256 of id, timestamp and body, keyed with the decoded secret. */
export function standardScheme(message: { id: string; timestamp: string; idInBody: string | null }): SignatureScheme {
  const { id, timestamp, idInBody } = message;
  const version = (write: (digest: Buffer) => string) => (digest: Buffer) => `v1,${write(digest)}`;
  const ofOther = { value: `${idInBody}.${timestamp}.`, cause: named('other_event') };
  return {
    contents: [
      { value: `${id}.${timestamp}.`, cause: null },
      ...(idInBody === null || idInBody === id ? [] : [ofOther]),
      { value: null, cause: named('only_the_body_signed') },
    ],
    keysOf: (secret) => [
      { value: Buffer.from(bareSecret(secret), 'base64'), cause: null },
      { value: Buffer.from(bareSecret(secret)), cause: named('key_not_decoded') },
      { value: Buffer.from(secret), cause: named('key_with_prefix') },
    ],
    algorithms: [
      { value: 'sha256', cause: null },
      { value: 'sha512', cause: named('sha512_for_sha256') },
      { value: 'sha1', cause: named('sha1') },
    ],
    writings: [
      { value: version(base64), cause: null },
      { value: base64, cause: named('version_missing') },
      { value: version(hex), cause: named('hex_for_base64') },
      { value: hex, cause: named('hex_for_base64') },
      { value: version((digest) => digest.toString('base64url')), cause: named('base64url') },
    ],
  };
}

function bareSecret(secret: string): string {
  return secret.replace(/^wh_/, '');
}
