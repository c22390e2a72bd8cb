import type pg from 'pg';
import type { ChangeFeed, Topic } from './changes.ts';
import type { Clock } from './clock.ts';
import type { Database } from './db.ts';
import { TopicListeners } from './topic-listeners.ts';

// Hints within this time are sent together: one statement for a burst instead of one for each.
const batchMs = 4;
const reconnectMs = 1_000;
/** PostgreSQL refuses a payload of 8,000 bytes or more. */
const payloadLengthMax = 7_500;
const channel = 'dalasi_changes';

export interface Notifier extends ChangeFeed {
  close(): Promise<void>;
}

interface NotifierOptions {
  db: Pick<Database, 'dedicatedClient'>;
  clock: Clock;
  /** Called once for each loss of the connection, if the first attempt to reconnect fails; and for listeners that throw. */
  onError: (error: unknown) => void;
}

/**
 * The change feed over LISTEN and NOTIFY. Listeners of this process are called directly, those of others through the database:
 * after the commit and never inside a transaction, because NOTIFY takes a global lock at commit.
 */
export async function startNotifier(options: NotifierOptions): Promise<Notifier> {
  const notifier = new PostgresNotifier(options);
  await notifier.listen();
  return notifier;
}

class PostgresNotifier implements Notifier {
  readonly #options: NotifierOptions;
  readonly #listeners = new TopicListeners();
  readonly #closed = new AbortController();
  #queued = new Set<string>();
  #sending: Promise<void> | null = null;
  #client: pg.Client | null = null;

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  notify(topic: Topic): void {
    this.#callListeners(topic);
    this.#queued.add(topic);
    this.#sending ??= this.#send();
  }

  subscribe(topic: Topic, listener: () => void): () => void {
    return this.#listeners.add(topic, listener);
  }

  subscribeKind(kind: string, listener: (key: string) => void): () => void {
    return this.#listeners.add(kind, listener);
  }

  async listen(): Promise<void> {
    const client = await this.#options.db.dedicatedClient();
    client.on('notification', (message) => {
      // This process's own hints have been delivered directly.
      if (message.processId === ownProcessId(client)) return;
      for (const topic of parseTopics(message.payload)) this.#callListeners(topic);
    });
    try {
      await client.query(`LISTEN ${channel}`);
    } catch (error) {
      await client.end();
      throw error;
    }
    // Closed while connecting: nothing else would end it.
    if (this.#closed.signal.aborted) return client.end();
    this.#client = client;
    // Only a client that listened reconnects when it ends, so that there is never more than one reconnecting.
    client.once('end', () => void this.#reconnect());
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#sending;
    await this.#client?.end();
  }

  async #reconnect(): Promise<void> {
    this.#client = null;
    let isReported = false;
    while (!this.#closed.signal.aborted) {
      await this.#options.clock.sleep(reconnectMs, this.#closed.signal);
      if (this.#closed.signal.aborted) return;
      try {
        await this.listen();
        return;
      } catch (error) {
        if (!isReported) this.#options.onError(error);
        isReported = true;
      }
    }
  }

  #callListeners(topic: string): void {
    const key = topic.slice(topic.indexOf(':') + 1);
    for (const listener of this.#listeners.of(topic)) this.#call(listener, key);
  }

  /** A listener that throws affects neither the caller nor the other listeners. */
  #call(listener: (key: string) => void, key: string): void {
    try {
      listener(key);
    } catch (error) {
      this.#options.onError(error);
    }
  }

  async #send(): Promise<void> {
    await this.#options.clock.sleep(batchMs, this.#closed.signal);
    const topics = [...this.#queued];
    this.#queued = new Set();
    try {
      for (const payload of payloads(topics)) {
        await this.#client?.query({ name: 'notify', text: 'SELECT pg_notify($1, $2)', values: [channel, payload] });
      }
    } catch (error) {
      // A lost hint costs time only: listeners also poll.
      this.#options.onError(error);
    }
    // One at a time: while the connection hangs, hints wait in a set instead of as statements.
    this.#sending = this.#queued.size > 0 && !this.#closed.signal.aborted ? this.#send() : null;
  }
}

function ownProcessId(client: pg.Client): number | undefined {
  return (client as pg.Client & { processID?: number }).processID;
}

function parseTopics(payload: string | undefined): string[] {
  return payload === undefined || payload === '' ? [] : payload.split('\n');
}

function payloads(topics: readonly string[]): string[] {
  const result: string[] = [];
  let current = '';
  for (const topic of topics) {
    if (current.length + topic.length + 1 > payloadLengthMax) {
      result.push(current);
      current = '';
    }
    current = current === '' ? topic : `${current}\n${topic}`;
  }
  return current === '' ? result : [...result, current];
}
