import { argon2, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { fieldError } from '../api/app-error.ts';
import { limitEachKey } from '../kit/keyed-limiter.ts';
import type { Random } from '../kit/random.ts';

// OWASP's password storage cheat sheet (2025): Argon2id with 19 MiB, two passes and one lane; 31 ms here.
const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 } as const;
const saltBytes = 16;

const lengthMin = 10;
// Longer ones protect nothing more.
const lengthMax = 128;
// Estimating holds up every other request, and takes as long as the length: of 128 characters 100 ms, of these 25. Whoever cannot guess
// the beginning cannot guess the whole.
const judgedLength = 32;
// 10^8 guesses: more than an attacker gets through a limited sign-in, and every leaked password of the list is below it.
const scoreMin = 3;

/** At most four hashes, of 19 MiB each, are computed at once; further ones wait, and beyond that are refused. */
const hashes = limitEachKey({
  name: 'password_hashes',
  each: 4,
  waitingMax: 64,
  refusal: { code: 'unavailable', message: 'Too many people are signing in. Try again in a second.' },
});

const deriveKey = promisify(argon2);

function derive(password: string, salt: Uint8Array): Promise<Buffer> {
  const message = password.normalize('NFKC');
  return hashes.run('all', () => deriveKey('argon2id', { ...cost, message, nonce: salt }));
}

/** The password's hash in the PHC format, which names the method and its cost. */
export async function hashPassword(random: Random, password: string): Promise<string> {
  const salt = random.bytes(saltBytes);
  const key = await derive(password, salt);
  const parameters = `m=${cost.memory},t=${cost.passes},p=${cost.parallelism}`;
  return `$argon2id$v=19$${parameters}$${unpadded(salt)}$${unpadded(key)}`;
}

// Whoever has no password costs as much time as everybody else, so that the time does not tell who has a login.
const nobodysHash = `$argon2id$v=19$m=19456,t=2,p=1$${unpadded(Buffer.alloc(saltBytes))}$${unpadded(Buffer.alloc(cost.tagLength))}`;

/** Whether the password is the hash's. `null`, of an account that does not exist or has no password, takes as long and is false. */
export async function isPassword(password: string, hash: string | null): Promise<boolean> {
  const [, , , , salt = '', key = ''] = (hash ?? nobodysHash).split('$');
  const derived = await derive(password, Buffer.from(salt, 'base64'));
  const expected = Buffer.from(key, 'base64');
  return expected.length === derived.length && timingSafeEqual(expected, derived) && hash !== null;
}

function unpadded(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replaceAll('=', '');
}

let estimator: ZxcvbnFactory | null = null;

/** Loaded with the first new password: its dictionaries take 0.1 s to prepare. */
async function createEstimator(): Promise<ZxcvbnFactory> {
  const [core, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  return new core.ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
}

/**
 * Refuses a password that can be guessed: too short, a leaked or common one, a pattern of the keyboard, or the person's own name
 * or address. Throws AppError `invalid_request` that names `path`.
 */
export async function assertStrongPassword(
  password: string,
  { path, known }: { path: string; known: string[] },
): Promise<void> {
  if (password.length < lengthMin) throw fieldError('invalid_request', path, `Use at least ${lengthMin} characters.`);
  if (password.length > lengthMax) throw fieldError('invalid_request', path, `Use at most ${lengthMax} characters.`);
  estimator ??= await createEstimator();
  const words = known.flatMap((text) => text.split(/[\s@.]+/)).filter((word) => word.length > 2);
  if (estimator.check(password.slice(0, judgedLength), words).score >= scoreMin) return;
  throw fieldError(
    'invalid_request',
    path,
    'This password is easy to guess. Use a few unrelated words, or let your browser suggest one.',
  );
}
