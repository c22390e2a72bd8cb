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
  /** The one that it uses now. */
  readonly key: string;
  /** From now on; what was sent with another one and refused for it is sent again. */
  useKey(key: string): void;
  send(method: string, path: string, body?: Body, idempotencyKey?: string): Promise<MerchantResponse>;
  /** As `send`, with this key only. */
  sendWith(...call: [key: string, ...Parameters<MerchantClient['send']>]): Promise<MerchantResponse>;
}

const triesMax = 12;
const pauseMs = 3_000;

export function createMerchantClient(
  merchant: { id: string; shortId: string },
  { key, endpointId, traffic, clock }: { key: string; endpointId: string; traffic: Traffic; clock: VirtualClock },
): MerchantClient {
  let current = key;
  const carry = async (used: string, { method, path, body, idempotencyKey }: Request): Promise<MerchantResponse> => {
    const call: OutgoingCall = {
      method,
      url: new URL(path, publicUrl),
      headers: {
        authorization: `Bearer ${used}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      body: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
    };
    const response = await traffic.carry(call);
    const text = response.body.toString('utf8');
    return { status: response.status, body: text.startsWith('{') ? (JSON.parse(text) as Body) : {}, text };
  };
  const sendUntilFinal = async (keyNow: () => string, request: Request): Promise<MerchantResponse> => {
    let last = 'no try';
    for (let tries = 0; tries < triesMax; tries += 1) {
      const used = keyNow();
      try {
        const response = await carry(used, request);
        const { status } = response;
        const isRefusedKey = status === 401 && used !== keyNow();
        const isFinal = status !== 503 && status !== 429 && !isInProgress(response.body) && !isRefusedKey;
        if (isFinal) return response;
        last = response.text;
      } catch (error) {
        last = String(error);
      }
      await clock.ofMachine().sleep(pauseMs);
    }
    throw new Error(`${request.method} ${request.path} has no response after ${triesMax} tries: ${last}`);
  };
  return {
    ...{ merchantId: merchant.id, shortId: merchant.shortId, endpointId },
    get key() {
      return current;
    },
    useKey: (next) => {
      current = next;
    },
    send: (method, path, body, idempotencyKey) => sendUntilFinal(() => current, { method, path, body, idempotencyKey }),
    sendWith: (only, method, path, body, idempotencyKey) =>
      sendUntilFinal(() => only, { method, path, body, idempotencyKey }),
  };
}

interface Request {
  method: string;
  path: string;
  body: Body | undefined;
  idempotencyKey: string | undefined;
}

function isInProgress({ code }: Body): boolean {
  return code === 'idempotency_in_progress';
}
