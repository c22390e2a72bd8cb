import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NoticeLoadOptions, NoticeLoadResult } from './notice-load.ts';
import { failureFigure, type Part } from './harness/part.ts';
import { processorSeconds } from './harness/process-figures.ts';
import { runProgram } from './harness/program.ts';
import { inMs, latenciesOf, whole } from './harness/statistics.ts';
import { systemClock } from '../server/src/kit/clock.ts';

const paymentsPerSecond = 50;
const seconds = 20;
const warmUpSeconds = 6;
// Each gets a message every ten seconds.
const counters = 500;
const p95MaxMs = 100;
const drainMs = 5_000;

export const notices: Part = {
  name: 'notices',
  title: 'From a paid payment to the message',
  description:
    `Payments at ${counters} counters that become paid at ${paymentsPerSecond} a second for ${seconds} s, each in one ` +
    'transaction with the work of notifying the counter: the time from its commit to the arrival of the message at a ' +
    'chat server on this machine, through the WhatsApp connector. Another process than the service commits, so the ' +
    'hint travels through the database, a few milliseconds longer than the service’s own.',
  async run(bench) {
    const chat = await startChatServer();
    try {
      const service = await bench.startService({ settings: whatsappAt(chat.url) });
      const load = async (run: string, forSeconds: number): Promise<NoticeLoadResult> => {
        const { adminUrl, appUrl } = service;
        const options: NoticeLoadOptions = { adminUrl, appUrl, paymentsPerSecond, counters, run, seconds: forSeconds };
        const result = await runProgram<NoticeLoadResult>('notice-load.ts', options);
        await systemClock.sleep(drainMs);
        return result;
      };
      await load('warm', warmUpSeconds);
      const secondsBefore = processorSeconds(service.pid);
      const { committedAtMs } = await load('measured', seconds);
      const processorMs = (processorSeconds(service.pid) - secondsBefore) * 1_000;
      await service.stop();
      const committed = Object.entries(committedAtMs);
      const durationsMs = committed.flatMap(([reference, committedAt]) => {
        const receivedAt = chat.receivedAtMs.get(reference);
        return receivedAt === undefined ? [] : [Math.max(0, receivedAt - committedAt)];
      });
      const { p50Ms, p95Ms, p99Ms } = latenciesOf(durationsMs);
      const missing = committed.length - durationsMs.length;
      return {
        figures: [
          { label: 'Payments', value: whole(committed.length) },
          {
            label: 'From the commit to the message, p95',
            value: inMs(p95Ms),
            aim: { text: `under ${p95MaxMs} ms`, isMet: p95Ms < p95MaxMs },
          },
          { label: 'The same, p50 and p99', value: [p50Ms, p99Ms].map(inMs).join(', ') },
          { label: 'Processor time of the service for a message', value: inMs(processorMs / committed.length) },
          failureFigure('Messages that did not come', missing),
        ],
        bars: [
          {
            label: `paid to message p95, ${paymentsPerSecond}/s`,
            value: p95Ms,
            aim: p95MaxMs,
            better: 'lower',
            unit: 'ms',
          },
        ],
      };
    } finally {
      await chat.close();
    }
  },
};

function whatsappAt(url: string): Record<string, string> {
  return {
    WHATSAPP_URL: url,
    WHATSAPP_ACCESS_TOKEN: 'token',
    WHATSAPP_PHONE_NUMBER_ID: '1055501234',
    WHATSAPP_TEMPLATE: 'payment_received',
    WHATSAPP_APP_SECRET: 'secret',
    WHATSAPP_VERIFY_TOKEN: 'word',
  };
}

interface Message {
  to: string;
  template: { components: { parameters: { text: string }[] }[] };
}

// The position of the reference among the template's parameters.
const referencePart = 5;

/** Accepts every message, and records its arrival by the payment's reference. */
async function startChatServer() {
  const receivedAtMs = new Map<string, number>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const receivedMs = performance.timeOrigin + performance.now();
      const { to, template } = JSON.parse(Buffer.concat(chunks).toString()) as Message;
      const reference = template.components[0]?.parameters[referencePart]?.text ?? '';
      if (!receivedAtMs.has(reference)) receivedAtMs.set(reference, receivedMs);
      const body = { contacts: [{ input: to, wa_id: to }], messages: [{ id: `wamid.${receivedAtMs.size}` }] };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    receivedAtMs,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async (): Promise<void> => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
