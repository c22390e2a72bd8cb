import { BoundedMap } from '../kit/bounded-map.ts';
import type { Clock } from '../kit/clock.ts';
import type { Database, Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import { codeOf, maskedBody, maskedQuery } from './masked-body.ts';
import type { LoggedRequest } from './logged-request.ts';
import { insertRequests, listCustomersOfRecords, lockCustomersNotDeleted } from './queries.ts';

/** A request whose response is on its way. */
export interface SeenRequest {
  merchantId: string;
  requestId: string;
  keyId: string;
  method: string;
  path: string;
  /** What follows the question mark; empty for none. */
  query: string;
  statusCode: number;
  durationMs: number;
  idempotencyKey: string | null;
  requestBody: unknown;
  /** The length of the body as it was received. */
  requestBytes: number;
  /** As it was sent; null for a file. */
  responseText: string | null;
}

interface WaitingRequest extends SeenRequest {
  id: string;
  endedAt: Date;
}

interface LogLimits {
  /** Requests that are not written yet. */
  requestsMax: number;
  /** Characters of their bodies. */
  charactersMax: number;
}

const defaultLimits: LogLimits = { requestsMax: 2_000, charactersMax: 16_000_000 };
const batchRowsMax = 200;
// Masking a megabyte holds up everything else for a few milliseconds.
const batchCharactersMax = 1_000_000;
const repeatMs = 60_000;
// With more addresses polled in a minute, some are logged more often.
const repeatsMax = 5_000;
// What a request weighs beside its bodies.
const requestCharacters = 1_000;

interface RequestLogContext {
  db: Database;
  clock: Clock;
  newId: () => string;
  /** Counts what was dropped because too much waited to be written. */
  observeDropped: () => void;
  limits?: LogLimits;
}

/**
 * Notes requests in memory until a chore writes them: no request waits for it. When too much waits, what comes is dropped and
 * counted.
 */
export class RequestLog {
  readonly #context: RequestLogContext;
  readonly #limits: LogLimits;
  #waiting: WaitingRequest[] = [];
  #characters = 0;
  /** When the same was noted last, by key, address and status. */
  readonly #noted = new BoundedMap<string, number>(repeatsMax);

  constructor(context: RequestLogContext) {
    this.#context = context;
    this.#limits = context.limits ?? defaultLimits;
  }

  note(request: SeenRequest): void {
    const { clock, newId, observeDropped } = this.#context;
    const endedAt = clock.now();
    if (this.#isRepetition(request, endedAt)) return;
    // The body of a successful GET says what the record says, which can be read.
    const responseText = isPlainRead(request) ? null : request.responseText;
    const weight = weightOf({ ...request, responseText });
    if (this.#waiting.length >= this.#limits.requestsMax || this.#characters + weight > this.#limits.charactersMax) {
      observeDropped();
      return;
    }
    this.#characters += weight;
    this.#waiting.push({ ...request, responseText, id: newId(), endedAt });
  }

  /** Writes one batch, and returns how many. What fails stays for the next time. */
  async write(): Promise<number> {
    const batch = this.#nextBatch();
    const rows = batch.map(toRow);
    for (const [merchantId, ofMerchant] of Map.groupBy(rows, (row) => row.merchantId)) {
      await this.#context.db.withTransaction((tx) => insertWithoutDeleted(tx, merchantId, ofMerchant));
    }
    this.#waiting = this.#waiting.slice(batch.length);
    for (const request of batch) this.#characters -= weightOf(request);
    return batch.length;
  }

  #nextBatch(): WaitingRequest[] {
    let characters = 0;
    const first = this.#waiting.slice(0, batchRowsMax);
    const end = first.findIndex((request) => (characters += weightOf(request)) > batchCharactersMax);
    return end === -1 ? first : first.slice(0, Math.max(1, end));
  }

  #isRepetition(request: SeenRequest, now: Date): boolean {
    if (!isPlainRead(request) && request.statusCode !== 429) return false;
    const { keyId, method, path, query, statusCode } = request;
    const name = `${keyId} ${method} ${path}?${query} ${statusCode}`;
    const notedAt = this.#noted.get(name);
    if (notedAt !== undefined && now.getTime() - notedAt < repeatMs) return true;
    // Deleted first, so that the newest goes last.
    this.#noted.delete(name);
    this.#noted.set(name, now.getTime());
    return false;
  }
}

/** A customer may have been deleted while what was sent about them waited in memory: of that, the line is left. */
async function insertWithoutDeleted(
  tx: Transaction,
  merchantId: string,
  rows: readonly LoggedRequest[],
): Promise<void> {
  const deleted = await findRecordsOfDeleted(tx, merchantId, [...new Set(rows.flatMap(objectsOf))]);
  const without = { query: null, requestBody: null, responseBody: null };
  const stored = rows.map((row) => (objectsOf(row).some((id) => deleted.has(id)) ? { ...row, ...without } : row));
  await insertRequests(tx, merchantId, stored);
}

function objectsOf({ pathObjectId, responseObjectId }: LoggedRequest): string[] {
  return [pathObjectId, responseObjectId].filter((id) => id !== null);
}

async function findRecordsOfDeleted(
  tx: Transaction,
  merchantId: string,
  objectIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const records = objectIds.length === 0 ? [] : await listCustomersOfRecords(tx, merchantId, objectIds);
  if (records.length === 0) return new Set();
  const customerIds = [...new Set(records.map(({ customerId }) => customerId))];
  const there = await lockCustomersNotDeleted(tx, merchantId, customerIds);
  return new Set(records.filter(({ customerId }) => !there.has(customerId)).map(({ id }) => id));
}

function isPlainRead({ method, statusCode }: SeenRequest): boolean {
  return method === 'GET' && statusCode < 400;
}

function weightOf({ requestBytes, responseText }: Pick<SeenRequest, 'requestBytes' | 'responseText'>): number {
  return requestCharacters + requestBytes + (responseText?.length ?? 0);
}

/** Masks here, after the response, and not while somebody waits for it. */
function toRow({ endedAt, query, requestBody, responseText, ...request }: WaitingRequest): LoggedRequest {
  const isError = request.statusCode >= 400;
  const response: unknown = responseText === null ? null : parsed(responseText);
  return {
    ...request,
    pathObjectId: request.path.split('/').find(isUuid) ?? null,
    responseObjectId: isError ? null : objectIdOf(response),
    query: query === '' ? null : maskedQuery(query),
    errorCode: isError ? codeOf(response) : null,
    requestBody: requestBody === undefined || requestBody === null ? null : maskedBody(requestBody, { isError: false }),
    responseBody: response === null ? null : maskedBody(response, { isError }),
    createdAt: new Date(endedAt.getTime() - Math.round(request.durationMs)),
  };
}

/** The record that a response is; the response to a creation names its payment twice. */
function objectIdOf(response: unknown): string | null {
  const id = typeof response === 'object' && response !== null && 'id' in response ? response.id : null;
  return typeof id === 'string' && isUuid(id) ? id : null;
}

/** Null for what is no JSON: it could not be masked. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
