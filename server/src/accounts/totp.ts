import { Secret, TOTP } from 'otpauth';
import type { Random } from '../kit/random.ts';
import { typedDigits } from '../kit/typed-digits.ts';

const secretBytes = 20;
const periodSeconds = 30;
// Clocks of phones are off by some seconds: the codes of the steps before and after count too (RFC 6238, section 5.2).
const window = 1;

/** A new secret of an authenticator app. */
export function createTotpSecret(random: Random): Buffer {
  return Buffer.from(random.bytes(secretBytes));
}

/** The secret as a person types it into an app, and as the address that the app scans. */
export function totpSetup(
  secret: Uint8Array,
  { issuer, email }: { issuer: string; email: string },
): { text: string; url: string } {
  const totp = totpOf(secret, { issuer, label: email });
  return { text: totp.secret.base32.replaceAll(/(.{4})(?=.)/g, '$1 '), url: totp.toString() };
}

/** The time step of a code that is right now, or null. The caller accepts each step once. */
export function totpStepOf(secret: Uint8Array, code: string, now: Date): bigint | null {
  const timestamp = now.getTime();
  const token = typedDigits(code).replaceAll(/\s/g, '');
  if (!/^\d{6}$/.test(token)) return null;
  const delta = totpOf(secret).validate({ token, window, timestamp });
  if (delta === null) return null;
  return BigInt(Math.floor(timestamp / 1_000 / periodSeconds) + delta);
}

function totpOf(secret: Uint8Array, names: { issuer?: string; label?: string } = {}): TOTP {
  const buffer = Uint8Array.from(secret).buffer;
  return new TOTP({ ...names, secret: new Secret({ buffer }), period: periodSeconds });
}

/** What a sealed secret is bound to. */
export function totpSealContext(accountId: string): string {
  return `account totp ${accountId}`;
}
