import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { startService, type TestService } from '../../../test/harness/service.ts';

const telegramSecret = 'telegram-secret';
const appSecret = 'app-secret';
/** The burst of `unverified-limit.ts`. */
const refusedMax = 60;

let service: TestService;

before(async () => {
  service = await startService({
    clock: new ManualClock(),
    settings: {
      TELEGRAM_BOT_TOKEN: '123456:abc',
      TELEGRAM_WEBHOOK_SECRET: telegramSecret,
      WHATSAPP_ACCESS_TOKEN: 'token',
      WHATSAPP_PHONE_NUMBER_ID: '1055501234',
      WHATSAPP_TEMPLATE: 'payment_received',
      WHATSAPP_APP_SECRET: appSecret,
      WHATSAPP_VERIFY_TOKEN: 'verify-token',
    },
  });
});
after(() => service.stop());

const signatures = {
  telegram: { name: 'x-telegram-bot-api-secret-token', valueOf: () => telegramSecret },
  whatsapp: {
    name: 'x-hub-signature-256',
    valueOf: (body: string) => `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`,
  },
};

for (const [channel, { name, valueOf }] of Object.entries(signatures)) {
  test(`a flood of forged callbacks of ${channel} is slowed down, and genuine ones never are`, async () => {
    const send = async (signature: string): Promise<number> => {
      const url = `${service.url}/chat-channels/${channel}/callbacks`;
      const response = await fetch(url, { method: 'POST', headers: { [name]: signature }, body: '{}' });
      await response.text();
      return response.status;
    };
    const forged = await Promise.all(Array.from({ length: refusedMax + 20 }, () => send('guessed')));
    assert.equal(forged.filter((status) => status === 401).length, refusedMax);
    assert.equal(forged.filter((status) => status === 429).length, 20);
    assert.equal(await send(valueOf('{}')), 200);
  });
}
