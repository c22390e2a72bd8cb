import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, it } from 'node:test';
import { verifyService, verifyStandard } from '../../examples/receiver.ts';
import { systemClock, type Clock } from '../../server/src/kit/clock.ts';
import { UsageError } from '../../server/src/kit/command-line.ts';
import { eventually } from '../../test/harness/eventually.ts';
import { createExampleWorld, availableLanguages } from '../../test/harness/example-receivers.ts';
import { CommandFailure } from '../command.ts';
import { checkCommand } from './check.ts';
import type { CheckReport } from './check-score.ts';
import type { CheckName } from './check-requests.ts';
import { readOwnReceiver } from './own-receiver.ts';
import { sendRequest } from './send-request.ts';
import { fastClock, acceleratedClock, runCommand, type RunSettings } from './command-run.corpus.ts';

const secret = `wh_${Buffer.alloc(32, 7).toString('base64')}`;
const environment = { DALASI_WEBHOOK_SECRET: secret };
const serviceHeader = 'x-service-signature';

const examples = createExampleWorld();
const servers: ReturnType<typeof createServer>[] = [];
after(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await examples.close();
});

async function listen(handler: RequestListener): Promise<string> {
  const server = createServer(handler);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

async function check(url: string, settings: RunSettings = {}, words: string[] = []) {
  const run = await runCommand(checkCommand, [url, ...words], { environment, clock: acceleratedClock(4), ...settings });
  return { ...run, report: run.data as CheckReport };
}

function failedOf({ checks }: CheckReport): CheckName[] {
  return checks.filter(({ verdict }) => verdict === 'failed').map((row) => row.check);
}

type Headers = Record<string, string | undefined>;

/** A receiver that does everything right, but for what is put in its place. */
interface Receiver {
  verify?: (body: Buffer, headers: Headers) => boolean;
  bodyBytesMax?: number;
  /** Whether the first packet is taken for all of it. */
  readsOnce?: boolean;
  /** Called for each packet of a body that was read. */
  onPacket?: () => void;
  genuine?: (event: { id: string; event: string; sequence: number; data: { id: string } }) => number;
  refuse?: (res: ServerResponse) => void;
}

const standard = (body: Buffer, headers: Headers): boolean => verifyStandard(body, headers, secret);
const service = (body: Buffer, headers: Headers): boolean => verifyService(body, headers, secret);
const verifyAtItsTime = (body: Buffer, headers: Headers, key = secret): boolean =>
  verifyStandard(body, headers, key, Number(headers['webhook-timestamp']));

function receiverOf({ verify = standard, bodyBytesMax = 1024 * 1024, readsOnce, ...rest }: Receiver): RequestListener {
  const { genuine = () => 204, refuse = (res: ServerResponse) => res.writeHead(401).end(), onPacket } = rest;
  const handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of req as AsyncIterable<Buffer>) {
      if (!readsOnce || chunks.length === 0) chunks.push(chunk);
      onPacket?.();
    }
    const body = Buffer.concat(chunks);
    if (body.length > bodyBytesMax || !verify(body, req.headers as Headers)) refuse(res);
    else res.writeHead(genuine(JSON.parse(body.toString()))).end();
  };
  return (req, res) => void handle(req, res);
}

/** Pauses until a packet more was read, so that what is sent in pieces never arrives in one. */
function pausesUntilRead(packets: () => number): Clock {
  return {
    now: systemClock.now,
    sleep: async (ms, signal) => {
      if (signal) return systemClock.sleep(ms, signal);
      const before = packets();
      await eventually('the packet was read', () => packets() > before);
    },
  };
}

function onceEach(status: number): NonNullable<Receiver['genuine']> {
  const seen = new Set<string>();
  return ({ id }) => {
    const isNew = !seen.has(id);
    seen.add(id);
    return isNew ? 200 : status;
  };
}

function inOrder(status: number): NonNullable<Receiver['genuine']> {
  const newest = new Map<string, number>();
  return ({ data, sequence }) => {
    const isStale = sequence < (newest.get(data.id) ?? 0);
    newest.set(data.id, Math.max(sequence, newest.get(data.id) ?? 0));
    return isStale ? status : 200;
  };
}

const genuine: CheckName[] = [
  'good',
  'repeated',
  'newer',
  'older',
  'unicode',
  'large',
  'slow',
  'unknown_kind',
  'two_signatures',
];
const alone: CheckName[] = ['service_alone', 'standard_alone'];
const forged: CheckName[] = ['body_changed', 'wrong_secret', 'empty_secret', 'empty_signature', 'no_signature'];
const forgedStandard: CheckName[] = ['old_timestamp', 'other_id'];

/** What is wrong with the receiver, and what it loses by that. */
const badReceivers: [what: string, receiver: Receiver, ...lost: CheckName[]][] = [
  ['believes everybody', { verify: () => true }, ...forged, ...forgedStandard],
  ['believes nobody', { verify: () => false }, ...genuine, ...alone],
  ['has an empty secret', { verify: emptySecret }, ...genuine, ...alone, 'empty_secret'],
  [
    'believes what has no header',
    { verify: (body, headers) => headers[serviceHeader] === undefined || service(body, headers) },
    'no_signature',
    ...forgedStandard,
  ],
  [
    'believes an empty header',
    { verify: (body, headers) => headers[serviceHeader] === '' || service(body, headers) },
    'empty_signature',
  ],
  [
    'verifies the body written again',
    { verify: (body, headers) => standard(Buffer.from(JSON.stringify(JSON.parse(body.toString()))), headers) },
    'unicode',
  ],
  [
    'takes the body for Latin-1',
    { verify: (body, headers) => standard(Buffer.from(body.toString('latin1')), headers) },
    'unicode',
    'large',
  ],
  ['does not look at the time', { verify: verifyAtItsTime }, 'old_timestamp'],
  [
    'takes the id from the body',
    { verify: (body, headers) => standard(body, { ...headers, 'webhook-id': JSON.parse(body.toString()).id }) },
    'other_id',
  ],
  [
    'compares the whole header',
    { verify: (body, headers) => !headers['webhook-signature']?.includes(' ') && standard(body, headers) },
    'two_signatures',
  ],
  ['wants both signatures', { verify: (body, headers) => service(body, headers) && standard(body, headers) }, ...alone],
  ['refuses repetitions', { genuine: onceEach(409) }, 'repeated'],
  ['refuses an event that arrives after a later one', { genuine: inOrder(409) }, 'older'],
  ['refuses unknown kinds', { genuine: ({ event }) => (event === 'charge.succeeded' ? 200 : 400) }, 'unknown_kind'],
  ['redirects', { genuine: () => 302 }, ...genuine, ...alone],
  ['takes 64 KB', { bodyBytesMax: 65_536 }, 'large'],
  ['reads the first packet', { readsOnce: true }, 'large', 'slow'],
  ['breaks off', { refuse: (res) => res.destroy() }, ...forged, ...forgedStandard],
];

function emptySecret(body: Buffer, headers: Headers): boolean {
  return createHmac('sha512', '').update(body).digest('hex') === headers[serviceHeader];
}

describe('the check of a receiver', { concurrency: 4 }, () => {
  it('passes a correct receiver, whichever signature it verifies', async () => {
    for (const [verify, of] of [
      [standard, 17],
      [service, 15],
      [either, 18],
    ] as const) {
      const { exitCode, report } = await check(await listen(receiverOf({ verify })));
      assert.deepEqual(failedOf(report), []);
      assert.deepEqual({ exitCode, score: report.score }, { exitCode: 0, score: { passed: of, of } });
    }
  });

  for (const [what, receiver, ...lost] of badReceivers) {
    it(`fails exactly the broken checks of a receiver that ${what}`, async () => {
      let packets = 0;
      const url = await listen(receiverOf({ ...receiver, onPacket: () => (packets += 1) }));
      const { exitCode, report, text } = await check(url, { clock: pausesUntilRead(() => packets) });
      assert.deepEqual(failedOf(report).toSorted(), lost.toSorted());
      assert.equal(exitCode, 1);
      assert.equal(report.score.of - report.score.passed, lost.length);
      for (const { verdict, advice } of report.checks) assert.equal(advice !== null, verdict === 'failed');
      assert.match(text, new RegExp(`${report.score.passed} of ${report.score.of} checks passed`));
    });
  }

  for (const language of availableLanguages().present) {
    it(`passes the ${language} example`, async () => {
      for (const signature of ['standard', 'service'] as const) {
        const { url } = await examples.start(language, { secret, signature });
        const { exitCode, report } = await check(url);
        assert.deepEqual(failedOf(report), []);
        assert.equal(exitCode, 0);
      }
    });
  }

  it('ends in time against a receiver that never responds, and reports what was not sent', async () => {
    const { exitCode, report } = await check(await listen(() => {}), { clock: fastClock(200) });
    assert.equal(exitCode, 1);
    assert.equal(report.score.passed, 0);
    assert.equal(report.checks[0]?.failure, 'timeout');
    assert.equal(report.checks.at(-1)?.failure, 'not_sent');
    assert.ok(report.checks.filter(({ failure }) => failure === 'timeout').length <= 9);
  });

  it('stops at a 404 or 405 to the first event, and says to check the path', async () => {
    for (const status of [404, 405]) {
      let requests = 0;
      const url = await listen((req, res) => {
        requests += 1;
        req.resume().on('end', () => res.writeHead(status).end());
      });
      await assert.rejects(
        check(url),
        (error) =>
          error instanceof CommandFailure &&
          error.message === `Your receiver responds with ${status} at this address. Check the path.`,
      );
      assert.equal(requests, 1);
    }
  });

  it('counts 400, 401 and 403 as a refusal, and no other status', async () => {
    for (const status of [400, 401, 403, 404, 500]) {
      const refuse = (res: ServerResponse): void => void res.writeHead(status).end();
      const { report } = await check(await listen(receiverOf({ refuse })));
      const expected = [400, 401, 403].includes(status) ? [] : [...forged, ...forgedStandard];
      assert.deepEqual(failedOf(report).toSorted(), expected.toSorted(), String(status));
    }
  });

  it('reminds you that an earlier event must be processed without overwriting the newer record', async () => {
    const { text } = await check(await listen(receiverOf({})));
    assert.match(text, /the earlier one must be processed too, without overwriting your copy of the newer record\.$/);
  });

  it('warns about a receiver that ignores the timestamp or refuses with 500', async () => {
    const refuse = (res: ServerResponse): void => void res.writeHead(500).end();
    const { exitCode, report } = await check(await listen(receiverOf({ verify: service, refuse })));
    assert.equal(exitCode, 1);
    assert.equal(report.advice.length, 2);
    assert.match(report.advice.join('\n'), /has no time in it[^]*answered with 500/);
  });

  it('marks every event as a test event of the check', async () => {
    const bodies: string[] = [];
    const url = await listen((req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        bodies.push(Buffer.concat(chunks).toString('utf8'));
        res.writeHead(401).end();
      });
    });
    await check(url);
    assert.equal(bodies.length, 18);
    for (const body of bodies) {
      const event = JSON.parse(body) as {
        test_mode: boolean;
        data: { test_mode: boolean; metadata: { made_by: string } };
      };
      assert.deepEqual(
        [event.test_mode, event.data.test_mode, event.data.metadata.made_by],
        [true, true, 'dalasi webhooks check'],
      );
    }
  });

  it('sends nothing to a public address without --yes-it-is-mine', async () => {
    const clock = fastClock(1_000);
    const refusals: [url: string, words: string[], message: RegExp][] = [
      ['http://1.1.1.1/hook', [], /imitate attacks[^]*--yes-it-is-mine/],
      ['http://[2606:4700::1]/', [], /imitate attacks/],
      ['http://169.254.169.254/', ['--yes-it-is-mine'], /private or reserved address/],
      ['http://0x1010101/', [], /imitate attacks/],
      ['ftp://127.0.0.1/', [], /https:\/\/ or http:\/\//],
      ['http://user:word@127.0.0.1/', [], /user name/],
      ['hook', [], /not a complete web address/],
    ];
    for (const [url, words, message] of refusals) {
      await assert.rejects(
        check(url, { clock }, words),
        (error) => error instanceof UsageError && message.test(error.message),
        url,
      );
    }
  });

  it('connects only to the addresses that it has checked', async () => {
    const read = (addresses: string[], isClaimed = false) =>
      readOwnReceiver('http://hook.shop.gm/', { isClaimed, resolveName: async () => addresses });
    assert.deepEqual((await read(['127.0.0.1', '::1'])).addresses, ['127.0.0.1', '::1']);
    assert.deepEqual((await read(['1.1.1.1'], true)).addresses, ['1.1.1.1']);
    await assert.rejects(read(['127.0.0.1', '1.1.1.1']), /imitate attacks/);
    await assert.rejects(read(['127.0.0.1', '169.254.169.254'], true), /which a receiver cannot use/);
    await assert.rejects(read([]), /has no address/);
    const { port } = new URL(await listen(receiverOf({})));
    const response = await sendRequest(
      {
        clock: systemClock,
        receiver: { url: new URL(`http://hook.shop.gm:${port}/`), addresses: ['127.0.0.1'] },
        signal: new AbortController().signal,
      },
      { headers: {}, body: Buffer.from('{}'), chunks: 1 },
    );
    assert.deepEqual(response, { status: 401, failure: null, durationMs: response.durationMs });
  });

  it('requires a complete secret and a reachable receiver', async () => {
    const url = await listen(receiverOf({}));
    await assert.rejects(check(url, { environment: { DATA_DIR: '/nowhere' } }), /No webhook secret found/);
    await assert.rejects(check(url, { environment: { DALASI_WEBHOOK_SECRET: 'wh_short' } }), UsageError);
    await assert.rejects(check(url, {}, ['--service-header', 'x y']), /--service-header is the name of a header/);
    await assert.rejects(
      check('http://127.0.0.1:1/'),
      (error) => error instanceof CommandFailure && /No server listens/.test(error.message),
    );
  });

  it('ends when it is interrupted', async () => {
    const stop = new AbortController();
    const url = await listen(() => stop.abort());
    await assert.rejects(check(url, { interruption: stop.signal }), /Interrupted/);
  });
});

/** The service's signature when it is there, else the other one. */
function either(body: Buffer, headers: Headers): boolean {
  return headers[serviceHeader] === undefined ? standard(body, headers) : service(body, headers);
}
