import { ExistingRecord, JsonText, type ApiRequest, type BoundRoute } from '../api/route.ts';
import type { Database, Transaction } from '../kit/db.ts';
import type { SharedCommits, Transact } from '../kit/shared-commits.ts';
import { errorBody } from './error-responses.ts';
import { fingerprintOf } from './fingerprint.ts';
import { runOnce, type IdempotencyContext, type ReplayableResponse } from './idempotency.ts';
import type { MerchantLimiters } from './merchant-limiters.ts';

/** A route that responds with JSON. */
export type JsonRoute = Exclude<BoundRoute, { kind: 'file' }>;

export interface RunContext extends IdempotencyContext {
  db: Database;
  commits: SharedCommits;
  docsUrl: () => string;
  limiters: MerchantLimiters;
}

/** A request whose caller is known and whose input matches the route's schemas. */
export interface RouteUse {
  requestId: string;
  input: ApiRequest<unknown, unknown, unknown>;
  /** The body as it was sent, without defaults, by which a repeated request is recognized. */
  sentBody: unknown;
  idempotencyKey: string | null;
  /** The key is used up by what succeeds, not by a refusal. */
  forgetsRefusals?: boolean | undefined;
  /** Runs in the transaction of a writing route, after it and not for a replay; gets the response. */
  alsoWrite?: (tx: Transaction, responseBody: string) => void;
}

/** Runs work in the merchant's queue of the route, if the route has one. */
export function inQueue<Result>(
  { limiters }: Pick<RunContext, 'limiters'>,
  { merchantQueue }: BoundRoute,
  merchantId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  return merchantQueue === undefined ? work() : limiters[merchantQueue].run(merchantId, work);
}

/** Runs a route: a writing one in its transaction, and at most once for an idempotency key. Throws what its handler throws. */
export function runRoute(context: RunContext, route: JsonRoute, use: RouteUse): Promise<ReplayableResponse> {
  return inQueue(context, route, use.input.caller.merchantId, () => runNow(context, route, use));
}

async function runNow(context: RunContext, route: JsonRoute, use: RouteUse): Promise<ReplayableResponse> {
  const { input, requestId, idempotencyKey: key } = use;
  if (route.kind === 'read') {
    return { statusCode: route.status, body: bodyOf(await route.handle(route.context, input)), replayed: false };
  }
  await context.sealer.prepare();
  const effect = async (tx: Transaction) => {
    const result = await route.handle(route.context, input, tx);
    const isCreated = !(result instanceof ExistingRecord);
    const body = bodyOf(isCreated ? result : result.record);
    use.alsoWrite?.(tx, body);
    return { statusCode: isCreated ? route.status : 200, body };
  };
  const transact = transactOf(context, route, input);
  if (key === null) return { ...(await transact(effect, { requestId })), replayed: false };
  const keyUse = {
    requestId,
    merchantId: input.caller.merchantId,
    path: addressOf(route, input.params),
    key,
    fingerprint: fingerprintOf(route.method, use.sentBody, route.body),
    fingerprintAsSent: fingerprintOf(route.method, use.sentBody),
  };
  const { replay } = route;
  return runOnce(context, keyUse, effect, {
    transact,
    forgetsRefusals: use.forgetsRefusals,
    errorResponse: (refusal) => ({
      statusCode: refusal.statusCode,
      body: JSON.stringify(errorBody(refusal, { id: requestId }, context)),
    }),
    ...(replay && {
      permanentReplay: {
        subjectOf: ({ body }) => (JSON.parse(body) as { id: string }).id,
        replay: async (subjectId) => ({
          statusCode: route.status,
          body: JSON.stringify(await replay(route.context, input, subjectId)),
        }),
      },
    }),
  });
}

/** How the request's transaction runs: by itself, or together with others of its merchant. */
function transactOf(
  { commits }: RunContext,
  route: Extract<JsonRoute, { kind: 'write' }>,
  { caller, body }: RouteUse['input'],
): Transact {
  if (!route.sharesCommit?.(body, caller)) return (change, options) => commits.runAlone(change, options);
  return (change, options) => commits.run(caller.merchantId, change, options);
}

function bodyOf(response: unknown): string {
  return response instanceof JsonText ? response.text : JSON.stringify(response);
}

/** The same path for every spelling of an address: percent-encoding and capitals of an id make no difference. */
export function addressOf(route: BoundRoute, params: unknown): string {
  const values = params as Readonly<Record<string, string>>;
  return route.path.replace(/:(\w+)/g, (_, name: string) => String(values[name]).toLowerCase());
}
