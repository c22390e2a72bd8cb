import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TOTP } from 'otpauth';
import { pairAuthenticator } from './authenticator.ts';
import { ManualClock } from './manual-clock.ts';

test('an authenticator is paired although a period ends meanwhile, and never gives a code twice', async () => {
  const clock = new ManualClock();
  const app = new TOTP();
  const accepted = new Set<number>();
  const accept = (token: string): void => {
    const delta = app.validate({ token, timestamp: clock.now().getTime(), window: 1 });
    assert.ok(delta !== null, 'this code is not right');
    const step = Math.floor(clock.now().getTime() / 30_000) + delta;
    assert.ok(!accepted.has(step), 'this code was used before');
    accepted.add(step);
  };
  const pairingTakesMs = [30_000, 0];
  const code = await pairAuthenticator({
    ...{ secret: app.secret.base32, clock },
    enable: async (typed) => {
      await clock.advance(pairingTakesMs.shift() ?? 0);
      accept(typed);
    },
  });

  for (const delayMs of [0, 0, 45_000, 30_000]) {
    await clock.advance(delayMs);
    accept(code());
  }
});
