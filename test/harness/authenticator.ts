import { Secret, TOTP } from 'otpauth';
import type { Clock } from '../../server/src/kit/clock.ts';

const periodMs = 30_000;

interface Pairing {
  /** As the page shows it. */
  secret: string;
  clock: Clock;
  /** Rejects a code that is not right. */
  enable(code: string): Promise<unknown>;
}

/**
 * Pairs an authenticator app with a login. Returns a function whose every call is a code that was not used yet: each is accepted once, so
 * each is one period later; a verifier accepts the neighbours of the current one.
 */
export async function pairAuthenticator({ secret, clock, enable }: Pairing): Promise<() => string> {
  const app = new TOTP({ secret: Secret.fromBase32(secret.replaceAll(' ', '')) });
  let timestamp = 0;
  // With the period before the current one, so that two more codes can follow at once.
  const enableWithEarliest = async (): Promise<void> => {
    timestamp = clock.now().getTime() - periodMs;
    await enable(app.generate({ timestamp }));
  };
  // The current period may have ended meanwhile, and with it what is accepted.
  await enableWithEarliest().catch(enableWithEarliest);
  return () => {
    timestamp = Math.max(timestamp + periodMs, clock.now().getTime());
    return app.generate({ timestamp });
  };
}
