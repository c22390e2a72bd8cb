import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startService, type TestService } from '../../../../test/harness/service.ts';
import { uuidV7 } from '../../kit/ids.ts';
import { systemRandom } from '../../kit/random.ts';
import { sendMail } from '../../mail/mail.ts';

let service: TestService;

before(async () => {
  service = await startService();
});
after(() => service.stop());

test('the simulated mailbox shows mails as text, and links our own addresses only', async () => {
  const { db, clock, secrets, url } = service;
  const { sealer } = secrets;
  await sealer.prepare();
  const link = `${url}/dashboard/invitation/abc`;
  await db.withTransaction(async (tx) => {
    const text = `Hello <b>Awa</b>,\n\n${link}\nhttps://evil.example/x`;
    const context = { clock, sealer, newId: () => uuidV7(clock, systemRandom) };
    sendMail(tx, context, { to: 'awa@example.gm', subject: 'Join <script>', text });
  });
  const response = await fetch(`${url}/simulator/mail`);
  const page = await response.text();
  assert.equal(response.status, 200);
  assert.match(page, /Join &lt;script&gt;/);
  assert.match(page, /Hello &lt;b&gt;Awa/);
  assert.ok(page.includes(`<a href="${link}">`));
  assert.ok(page.includes('https://evil.example/x') && !page.includes('href="https://evil'));
});
