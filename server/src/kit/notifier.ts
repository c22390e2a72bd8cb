import type pg from 'pg';
import type { ChangeFeed, Topic } from './changes.ts';
import type { Clock } from './clock.ts';
import type { Database } from './db.ts';

// Hints made within this time travel together: one statement for a burst instead of one for each.
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
  /** Hears of a database that is away once, when it does not come back at the first try. */
  onError: (error: unknown) => void;
}

/**
 * The change feed over LISTEN and NOTIFY. Listeners of this process are told directly; the others through the
 * database, after the commit and never inside a money transaction, because notifying takes a global lock at commit.
 */
export async function startNotifier(options: NotifierOptions): Promise<Notifier> {
  const notifier = new PostgresNotifier(options);
  await notifier.listen();
  return notifier;
}

class PostgresNotifier implements Notifier {
  readonly #options: NotifierOptions;
  /** By topic, and by the kind alone. */
  readonly #listeners = new Map<string, Set<(key: string) => void>>();
  readonly #closed = new AbortController();
  #gathered = new Set<string>();
  #sending: Promise<void> | null = null;
  #client: pg.Client | null = null;

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  notify(topic: Topic): void {
    this.#tell(topic);
    this.#gathered.add(topic);
    this.#sending ??= this.#send();
  }

  subscribe(topic: Topic, listener: () => void): () => void {
    return this.#add(topic, listener);
  }

  subscribeKind(kind: string, listener: (key: string) => void): () => void {
    return this.#add(kind, listener);
  }

  #add(name: string, listener: (key: string) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    listeners.add(listener);
    this.#listeners.set(name, listeners);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(name);
    };
  }

  async listen(): Promise<void> {
    const client = await this.#options.db.dedicatedClient();
    client.on('notification', (message) => {
      // Our own hints were told when they were made.
      if (message.processId === ownProcessId(client)) return;
      for (const topic of parseTopics(message.payload)) this.#tell(topic);
    });
    try {
      await client.query(`LISTEN ${channel}`);
    } catch (error) {
      await client.end();
      throw error;
    }
    // Closed while it connected: nobody would end it any more.
    if (this.#closed.signal.aborted) return client.end();
    this.#client = client;
    // Only one that listened is replaced when it ends, so that there is never more than one that tries.
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

  #tell(topic: string): void {
    const separator = topic.indexOf(':');
    const key = topic.slice(separator + 1);
    for (const name of [topic, topic.slice(0, separator)]) {
      for (const listener of this.#listeners.get(name) ?? []) this.#call(listener, key);
    }
  }

  /** Whoever announces has nothing to do with a listener's mistakes, and neither have the other listeners. */
  #call(listener: (key: string) => void, key: string): void {
    try {
      listener(key);
    } catch (error) {
      this.#options.onError(error);
    }
  }

  async #send(): Promise<void> {
    await this.#options.clock.sleep(batchMs, this.#closed.signal);
    const topics = [...this.#gathered];
    this.#gathered = new Set();
    try {
      for (const payload of payloads(topics)) await this.#client?.query('SELECT pg_notify($1, $2)', [channel, payload]);
    } catch (error) {
      // A hint that is lost costs time only: everybody also looks by itself now and then.
      this.#options.onError(error);
    }
    // One at a time: on a connection that hangs, hints gather in a set instead of piling up as statements.
    this.#sending = this.#gathered.size > 0 && !this.#closed.signal.aborted ? this.#send() : null;
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
