import type { Transporter } from 'nodemailer';
import { addMs, dayMs, hourMs, minuteMs, type Clock } from '../kit/clock.ts';
import { SealError } from '../kit/seal.ts';
import { sealContext, type MailContext } from './mail.ts';
import {
  claimMail,
  eraseMailsBefore,
  markMailFailed,
  markMailSent,
  purgeMailsBefore,
  type StoredMail,
} from './queries.ts';

export interface SmtpSettings {
  /** `smtps://user:password@host:465`, or `smtp://…:587`, which then demands STARTTLS. */
  url: string;
  /** `Dalasi <pay@example.gm>`. */
  from: string;
}

/** Sends mails by SMTP. */
export interface Mailer {
  /** Rejects with what the server or the connection said. */
  send(mail: { to: string; subject: string; text: string; id: string }): Promise<void>;
  close(): void;
}

// A mail server may greet slowly on purpose; the lease is longer than all of these together.
const timeoutMs = 20_000;

/** The server is the operator's own setting, so unlike merchants' addresses it may be a private one. */
export function createMailer({ url, from }: SmtpSettings): Mailer {
  const { protocol, hostname } = new URL(url);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  let transport: Transporter | null = null;
  const open = async (): Promise<Transporter> => {
    // Loaded with the first mail, so that no start waits for it.
    const { createTransport } = await import('nodemailer');
    transport ??= createTransport({
      url,
      requireTLS: protocol === 'smtp:' && !isLocal,
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      // A text never names a file or an address to fetch.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    return transport;
  };
  return {
    send: async ({ to, subject, text, id }) => {
      // As an object, so that no comma in an address makes two recipients.
      const recipient = { name: '', address: to };
      const messageId = `<${id}@${hostname}>`;
      await (await open()).sendMail({ from, to: recipient, subject, text, messageId });
    },
    close: () => transport?.close(),
  };
}

// A session of ten answers, each as late as it may be, ends within it.
const leaseMs = 5 * minuteMs;
// After 1, 5 and 15 minutes and an hour, then every four hours until a day has passed: a mail server that is down over night, or
// an operator who mends its password in the morning, loses no invitation (good for a week) and no warning to an owner. What has
// ended meanwhile, such as a link to a new password, says so.
const waitsMs = [
  minuteMs,
  5 * minuteMs,
  15 * minuteMs,
  hourMs,
  ...Array.from({ length: 5 }, () => 4 * hourMs),
  2.5 * hourMs,
];
const failureLengthMax = 200;

// A process ends within 25 s (process/run-service.ts): what it closes after its workers needs the rest.
const stopWaitMs = 10_000;

/**
 * Sends the mail that is due first, outside of any transaction; returns 0 if there is none. A process that dies meanwhile, or that
 * stops while the mail server takes its time, leaves it due again when its lease ends, so a mail can arrive twice and none is lost.
 */
export async function sendDueMail(
  context: MailContext,
  mailer: Mailer,
  stopped: AbortSignal = new AbortController().signal,
): Promise<number> {
  const { db, clock, log } = context;
  const now = clock.now();
  const mail = await claimMail(db, { now, leaseUntil: addMs(now, leaseMs) });
  if (!mail) return 0;
  const ended = new AbortController();
  const sending = trySending(context, mailer, mail).finally(() => ended.abort());
  if (!(await endsInTime(clock, { stopped, ended: ended.signal }))) return 0;
  const failure = await sending;
  if (failure === null) {
    await db.run(markMailSent(mail, clock.now()));
    return 1;
  }
  const waitMs = failure.isFinal ? undefined : waitsMs[Number(mail.attempts) - 1];
  const dueAt = waitMs === undefined ? null : addMs(clock.now(), waitMs);
  await db.run(markMailFailed(mail, failure.text.slice(0, failureLengthMax), dueAt));
  // The text names the recipient, so it stays in the row.
  log.warn(dueAt === null ? 'a mail was given up' : 'a mail could not be sent yet', { code: failure.code });
  return 1;
}

/** Whether an attempt ends before its lease does, and soon after a stop. */
async function endsInTime(
  clock: Clock,
  { stopped, ended }: Record<'stopped' | 'ended', AbortSignal>,
): Promise<boolean> {
  await clock.sleep(leaseMs, AbortSignal.any([stopped, ended]));
  if (stopped.aborted) await clock.sleep(stopWaitMs, ended);
  return ended.aborted;
}

interface Failure {
  text: string;
  /** What failed, without a word of the mail: `RCPT TO 550`. */
  code: string;
  isFinal: boolean;
}

/** Null if the server has taken the mail over. */
async function trySending({ sealer }: MailContext, mailer: Mailer, mail: StoredMail): Promise<Failure | null> {
  try {
    const text = sealer.open(mail.sealedText, sealContext(mail.id)).toString();
    await mailer.send({ to: mail.recipient, subject: mail.subject, text, id: mail.id });
    return null;
  } catch (error) {
    return describeFailure(error);
  }
}

/**
 * RFC 5321, section 4.2.1: 5xx is permanent. Only where it is about this mail: a refused login, sender or connection, and a seal key
 * that this process does not have, are the operator's to mend, and the mail waits meanwhile.
 */
function describeFailure(error: unknown): Failure {
  const text = error instanceof Error ? error.message : 'unknown';
  if (error instanceof SealError) return { text, code: 'unreadable', isFinal: error.reason === 'damaged' };
  const {
    responseCode = 0,
    command = '',
    code = '',
  } = error as { responseCode?: number; command?: string; code?: string };
  const isAboutMail = command.startsWith('RCPT') || command.startsWith('DATA');
  return { text, code: `${command || code} ${responseCode || ''}`.trim(), isFinal: isAboutMail && responseCode >= 500 };
}

// Longer than all waits together. What was not sent by then would surprise: most links in it have ended.
const unsentMaxMs = dayMs;
const retentionMs = 30 * dayMs;
const purgeBatch = 500;

/** Gives up and erases what could not be sent for a day, and deletes mails after 30 days, some at a time. Returns how many. */
export async function purgeMails({ db, clock }: Pick<MailContext, 'db' | 'clock'>): Promise<number> {
  const now = clock.now();
  const erased = await eraseMailsBefore(db, addMs(now, -unsentMaxMs), purgeBatch);
  return erased + (await purgeMailsBefore(db, addMs(now, -retentionMs), purgeBatch));
}
