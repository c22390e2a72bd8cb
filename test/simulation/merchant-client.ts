import type { OutgoingCall } from './calls.ts';
import { publicUrl } from './machines.ts';
import type { Traffic } from './traffic.ts';
import type { VirtualClock } from './virtual-clock.ts';

type Body = Record<string, unknown>;

export interface MerchantResponse {
  status: number;
  body: Body;
  text: string;
}

/** A merchant's server, which sends a request with the same key until it has a response. */
export interface MerchantClient {
  shortId: string;
  merchantId: string;
  endpointId: string;
  send(method: string, path: string, body?: Body, idempotencyKey?: string): Promise<MerchantResponse>;
}

const triesMax = 12;
const pauseMs = 3_000;

export function createMerchantClient(
  merchant: { id: string; shortId: string },
  { key, endpointId, traffic, clock }: { key: string; endpointId: string; traffic: Traffic; clock: VirtualClock },
): MerchantClient {
  const send: MerchantClient['send'] = async (method, path, body, idempotencyKey) => {
    const call: OutgoingCall = {
      method,
      url: new URL(path, publicUrl),
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      body: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
    };
    let last = 'no try';
    for (let tries = 0; tries < triesMax; tries += 1) {
      try {
        const response = await traffic.carry(call);
        const text = response.body.toString('utf8');
        const parsed = text.startsWith('{') ? (JSON.parse(text) as Body) : {};
        const isFinal = response.status !== 503 && response.status !== 429 && !isInProgress(parsed);
        if (isFinal) return { status: response.status, body: parsed, text };
        last = text;
      } catch (error) {
        last = String(error);
      }
      await clock.ofMachine().sleep(pauseMs);
    }
    throw new Error(`${method} ${path} has no response after ${triesMax} tries: ${last}`);
  };
  return { merchantId: merchant.id, shortId: merchant.shortId, endpointId, send };
}

function isInProgress({ code }: Body): boolean {
  return code === 'idempotency_in_progress';
}
