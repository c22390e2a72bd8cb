/**
 * A receiver of events in one file without packages:
 *
 *     DALASI_WEBHOOK_SECRET=wh_… PORT=4000 "$(node launch/node-path.js)" examples/receiver.ts
 *
 * It runs with Node 24 or newer, which leaves the types out by itself and whose path node-path.js prints.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** With an empty secret everybody could sign, and with a cut one nothing would verify: start with neither. */
export function checkSecret(secret: string | undefined): string {
  if (secret !== undefined && /^wh_[A-Za-z0-9+/]{32,}={0,2}$/.test(secret)) return secret;
  throw new Error('The webhook secret is not set, or is not the whole of it: wh_ and at least 32 characters.');
}

/** rawBody: the raw request body; headers: with names in lower case. */
export function verifyService(rawBody: Uint8Array, headers: Headers, secret: string): boolean {
  const expected = createHmac('sha512', checkSecret(secret)).update(rawBody).digest('hex');
  return isEqual(expected, headers['x-service-signature']);
}

export function verifyStandard(
  rawBody: Uint8Array,
  headers: Headers,
  secret: string,
  nowSeconds = Date.now() / 1_000,
): boolean {
  const key = Buffer.from(checkSecret(secret).slice('wh_'.length), 'base64');
  const [id, timestamp] = [String(headers['webhook-id']), String(headers['webhook-timestamp'])];
  if (!/^[0-9]{1,12}$/.test(timestamp) || Math.abs(nowSeconds - Number(timestamp)) > 300) return false;
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(rawBody).digest('base64');
  // During a rotation there are two signatures, separated by a space.
  const signatures = String(headers['webhook-signature']).split(' ');
  return signatures.some((signature) => isEqual(`v1,${expected}`, signature));
}

/** Takes as long for a wrong first character as for a wrong last one, so that nobody can guess one after the other. */
function isEqual(expected: string, sent: string | string[] | undefined): boolean {
  const [left, right] = [Buffer.from(expected), Buffer.from(String(sent))];
  return left.length === right.length && timingSafeEqual(left, right);
}

interface DalasiEvent {
  id: string;
  event: string;
  sequence: number;
  data: { id: string };
}

const bodyBytesMax = 1024 * 1024;
const rememberedMax = 10_000;

// A shop keeps both in its database, in the transaction that does the work: a unique key on the event's id, and the
// sequence beside the record.
const seenIds = new Set<string>();
const newestSequences = new Map<string, number>();

/**
 * What to do with a genuine event. The body's `id` is the header's `webhook-id`, and both signatures cover it. An event
 * that arrives after a later one still counts: a payment that was partly refunded is paid all the same. Only its record is
 * outdated, and must not overwrite the one you have.
 */
function sortEvent(event: DalasiEvent): 'handled' | 'handled (record outdated)' | 'repeated' {
  if (seenIds.has(event.id)) return 'repeated';
  seenIds.add(event.id);
  const newest = newestSequences.get(event.data.id) ?? 0;
  newestSequences.set(event.data.id, Math.max(newest, event.sequence));
  forgetOldest(seenIds);
  forgetOldest(newestSequences);
  return event.sequence > newest ? 'handled' : 'handled (record outdated)';
}

function forgetOldest(seen: Set<string> | Map<string, number>): void {
  const [oldest] = seen.keys();
  if (seen.size > rememberedMax && oldest !== undefined) seen.delete(oldest);
}

/** The raw bytes; undefined where there are too many. */
export async function readBody(req: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function receive(req: IncomingMessage, secret: string, verify: typeof verifyStandard): Promise<number> {
  if (req.method !== 'POST') return 405;
  const rawBody = await readBody(req);
  if (rawBody === undefined) return 413;
  if (!verify(rawBody, req.headers, secret)) return 401;
  // Only now: before the signature is verified, the body is anybody's text.
  const event = JSON.parse(rawBody.toString('utf8')) as DalasiEvent;
  // Here a shop stores the event and answers; the work is done afterwards, by something that reads what was stored.
  console.log(`${event.event} ${event.id}: ${sortEvent(event)}`);
  return 204;
}

function main(): void {
  const secret = checkSecret(process.env['DALASI_WEBHOOK_SECRET']);
  // One of the two is enough. Standard Webhooks also refuses what is old, and takes either secret during a rotation.
  const verify = process.env['DALASI_SIGNATURE'] === 'service' ? verifyService : verifyStandard;
  const handleRequest = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const status = await receive(req, secret, verify).catch(() => 400);
    // The rest of a body that is too long is not waited for.
    res.writeHead(status, status === 413 ? { connection: 'close' } : {}).end();
  };
  const server = createServer({ requestTimeout: 15_000 }, (req, res) => void handleRequest(req, res));
  server.listen(Number(process.env['PORT'] ?? 4000), '127.0.0.1', () => {
    console.log(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
}

if (import.meta.main) main();
