import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import { startSmtpReceiver } from '../../../test/harness/smtp-receiver.ts';
import { createServiceLog } from '../api/service-log.ts';
import type { Database } from '../kit/db.ts';
import { uuidV7 } from '../kit/ids.ts';
import { seededRandom } from '../kit/random.ts';
import { createSealer } from '../kit/seal.ts';
import { listMailbox, sendMail, type MailContext, type NewMail } from './mail.ts';
import { createMailer, purgeMails, sendDueMail, type Mailer } from './send-due-mail.ts';

let database: TestDatabase;
let db: Database;
let context: MailContext;

const clock = new ManualClock();
const random = seededRandom('mails');
const from = 'Dalasi <pay@example.gm>';
const minuteMs = 60_000;

before(async () => {
  database = await createTestDatabase();
  db = openTestDatabase(database, { connectionsMax: 4 });
  const sealer = createSealer('22'.repeat(32));
  context = { db, clock, newId: () => uuidV7(clock, random), sealer, log: createServiceLog({ level: 'silent' }) };
});

after(async () => {
  await db.close();
  await database.drop();
});

async function write(mail: Partial<NewMail> = {}): Promise<void> {
  const whole = { to: 'awa@example.gm', subject: 'Confirm', text: 'Open https://pay.example.gm/x\n', ...mail };
  await db.withTransaction(async (tx) => sendMail(tx, context, whole));
}

/** Accepts connections and says nothing. */
async function startSilentServer() {
  const { promise: isConnected, resolve } = Promise.withResolvers<Socket>();
  const server = createServer(resolve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isConnected,
    [Symbol.asyncDispose]: async () => {
      (await isConnected).destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

const stored = () =>
  db.rows<{ text: string }>({ name: 'test_mails', text: 'SELECT mails::text AS text FROM mails', values: [] });

test('a mail is sent once by two workers, sealed until then and erased afterwards', async () => {
  await using receiver = await startSmtpReceiver();
  const mailer = createMailer({ url: receiver.url, from });
  await write({ text: 'the secret link\n' });
  assert.ok((await stored()).every(({ text }) => !text.includes('secret link')));
  assert.deepEqual(
    (await listMailbox(context)).map(({ text }) => text),
    ['the secret link\n'],
  );
  await Promise.all([sendDueMail(context, mailer), sendDueMail(context, mailer)]);
  assert.equal(receiver.messages.length, 1);
  assert.deepEqual(receiver.messages[0]?.recipients, ['awa@example.gm']);
  assert.match(receiver.messages[0]?.raw ?? '', /the secret link/);
  assert.deepEqual(await listMailbox(context), [], 'nothing is left to read');
  await clock.advance(10 * minuteMs);
  assert.equal(await sendDueMail(context, mailer), 0);
  mailer.close();
});

test('header injection: no name, subject or address becomes another header or recipient', async () => {
  await using receiver = await startSmtpReceiver();
  const mailer = createMailer({ url: receiver.url, from });
  await write({ subject: 'Awa\r\nBcc: evil@example.com\u0000\u202E invites you' });
  await write({ to: 'awa@example.gm, evil@example.com' });
  await write({ to: 'awa@example.gm>\r\nRCPT TO:<evil@example.com' });
  while ((await sendDueMail(context, mailer)) > 0);
  const heads = receiver.messages.map(({ raw }) => raw.slice(0, raw.indexOf('\r\n\r\n')));
  assert.ok(heads.length >= 1);
  for (const head of heads) assert.doesNotMatch(head, /^(Bcc|Cc):/im);
  const recipients = receiver.messages.flatMap((message) => message.recipients);
  assert.ok(
    recipients.every((recipient) => !recipient.startsWith('evil@')),
    recipients.join(' '),
  );
  await clock.advance(24 * 60 * minuteMs);
  await db.run({ name: 'test_mails_clear', text: 'DELETE FROM mails', values: [] });
  mailer.close();
});

test('a refusal for now is tried again with longer waits, one for good is not', async () => {
  await using receiver = await startSmtpReceiver();
  const mailer = createMailer({ url: receiver.url, from });
  receiver.refusals.push('450 try later', '451 and later');
  await write();
  await sendDueMail(context, mailer);
  assert.equal(await sendDueMail(context, mailer), 0, 'not at once');
  await clock.advance(minuteMs);
  await sendDueMail(context, mailer);
  await clock.advance(4 * minuteMs);
  assert.equal(await sendDueMail(context, mailer), 0, 'later than the time before');
  await clock.advance(minuteMs);
  await sendDueMail(context, mailer);
  assert.equal(receiver.messages.length, 1);
  receiver.refusals.push('550 no such mailbox');
  await write({ to: 'nobody@example.gm', text: 'another secret' });
  await sendDueMail(context, mailer);
  await clock.advance(24 * 60 * minuteMs);
  assert.equal(await sendDueMail(context, mailer), 0);
  assert.match((await stored()).map(({ text }) => text).join('\n'), /no such mailbox/);
  assert.deepEqual(await listMailbox(context), [], 'its text is erased');
  mailer.close();
});

test('a mail that a process cannot read for want of its key stops no other, and is sent by one that can', async () => {
  await using receiver = await startSmtpReceiver();
  const mailer = createMailer({ url: receiver.url, from });
  const other = { ...context, sealer: createSealer('33'.repeat(32)) };
  await db.withTransaction(async (tx) => sendMail(tx, other, { to: 'lost@example.gm', subject: 'x', text: 'x' }));
  await write({ to: 'good@example.gm' });
  while ((await sendDueMail(context, mailer)) > 0);
  const recipients = () => receiver.messages.flatMap((message) => message.recipients);
  assert.deepEqual(recipients(), ['good@example.gm']);
  await clock.advance(minuteMs);
  assert.equal(await sendDueMail(other, mailer), 1);
  assert.deepEqual(recipients(), ['good@example.gm', 'lost@example.gm']);
  mailer.close();
});

test('what the operator has to mend gives no mail up', async () => {
  await using receiver = await startSmtpReceiver();
  const mailer = createMailer({ url: receiver.url, from });
  await write({ to: 'waits@example.gm' });
  const refused: Mailer = {
    send: () => Promise.reject(Object.assign(new Error('sender refused'), { responseCode: 550, command: 'MAIL FROM' })),
    close: () => {},
  };
  await sendDueMail(context, refused);
  await clock.advance(minuteMs);
  await sendDueMail(context, mailer);
  assert.deepEqual(receiver.messages.at(-1)?.recipients, ['waits@example.gm']);
  mailer.close();
});

test('a mail that was not sent within a day is given up, and its text erased', async () => {
  await write({ to: 'old@example.gm' });
  await clock.advance(24 * 60 * minuteMs + 1);
  await purgeMails(context);
  assert.deepEqual(await listMailbox(context), []);
  await using receiver = await startSmtpReceiver();
  const mailer = createMailer({ url: receiver.url, from });
  assert.equal(await sendDueMail(context, mailer), 0);
  mailer.close();
});

test('a mail that is given up while its server takes its time stays given up', async () => {
  await write({ to: 'slow@example.gm' });
  await clock.advance((24 * 60 - 1) * minuteMs);
  const slow: Mailer = {
    send: async () => {
      await clock.advance(minuteMs + 1);
      await purgeMails(context);
      throw new Error('no answer');
    },
    close: () => {},
  };
  assert.equal(await sendDueMail(context, slow), 1);
  await clock.advance(minuteMs);
  assert.equal(await sendDueMail(context, slow), 0);
});

test('a stop waits ten seconds for a mail server that hangs; the mail is sent once its lease has ended', async () => {
  await using silent = await startSilentServer();
  await write({ to: 'later@example.gm' });
  const stopped = new AbortController();
  const sending = sendDueMail(context, createMailer({ url: silent.url, from }), stopped.signal);
  await silent.isConnected;
  stopped.abort();
  await clock.untilSleeping(1);
  await clock.advance(10_000);
  assert.equal(await sending, 0);
  await using receiver = await startSmtpReceiver();
  const mailer = createMailer({ url: receiver.url, from });
  await clock.advance(4 * minuteMs);
  assert.equal(await sendDueMail(context, mailer), 0);
  await clock.advance(minuteMs);
  assert.equal(await sendDueMail(context, mailer), 1);
  assert.deepEqual(receiver.messages[0]?.recipients, ['later@example.gm']);
  mailer.close();
});

test('a mail server that is away loses no mail, and after the last try it is given up', async () => {
  const unreachable = createMailer({ url: 'smtp://127.0.0.1:1', from });
  await write({ to: 'patient@example.gm' });
  let tries = 0;
  for (let minutes = 0; minutes < 24 * 60; minutes += 1) {
    tries += await sendDueMail(context, unreachable);
    await clock.advance(minuteMs);
  }
  assert.equal(tries, 11, 'the last after 23 h 51 min');
  unreachable.close();
});

test('without encryption neither mail nor password is sent to another machine', async () => {
  // Not one of the names that count as local.
  await using receiver = await startSmtpReceiver('127.0.0.2');
  const mailer = createMailer({ url: receiver.url.replace('smtp://', 'smtp://user:password@'), from });
  await assert.rejects(mailer.send({ to: 'awa@example.gm', subject: 'x', text: 'x', id: 'x' }));
  assert.ok(receiver.commands.includes('STARTTLS'));
  assert.ok(
    !receiver.commands.some((command) => command === 'AUTH' || command === 'MAIL'),
    receiver.commands.join(' '),
  );
  mailer.close();
});

test('mails are deleted after 30 days, and not before', async () => {
  await write();
  const count = (await stored()).length;
  await clock.advance(29 * 24 * 60 * minuteMs);
  await write();
  await purgeMails(context);
  assert.ok((await stored()).length >= 2);
  await clock.advance(24 * 60 * minuteMs + 1);
  assert.ok((await purgeMails(context)) >= 1);
  assert.ok((await stored()).length <= count);
  assert.equal((await stored()).length, 1);
});
