import type { Duplex } from 'node:stream';
import pg from 'pg';

/**
 * Without keep-alive the listener would never notice that a host lost power, or that a firewall dropped an idle connection.
 * After ten idle seconds the operating system sends ten probes, a second apart, and then reports the connection as lost.
 */
export const keepAliveOptions = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

const int8 = 20;

/** bigint columns arrive as BigInt; the driver's default is text. */
export function typesWithBigInt(): pg.TypeOverrides {
  const types = new pg.TypeOverrides();
  types.setTypeParser(int8, (text) => BigInt(text));
  return types;
}

/** The driver's types leave out that its pool holds ordinary clients. */
export type PooledClient = pg.PoolClient & Pick<pg.Client, 'connection'>;

/**
 * Writes to a connection within one turn of the event loop go out in one system call. The driver makes one for each
 * statement, which took half of the processor time of creating a payment.
 */
export function batchWrites(stream: Duplex): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  // Runs after all pending promise callbacks, so after the statements that are sent without waiting.
  process.nextTick(() => stream.uncork());
}
