import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What is wrong with a connection to a database. */
export interface LinkFault {
  /** Each part waits for so long, and up to as much again by chance. */
  delayMs?: number;
  /** So many bytes a second pass in each direction. */
  bytesPerSecond?: number;
  /** Parts are cut into pieces of at most so many bytes. */
  sliceBytes?: number;
  /** Of a hundred parts so many reset the connection. */
  resetsPercent?: number;
  /** Of a hundred replies to COMMIT so many are lost with their connection: nobody knows whether it was committed. */
  lostCommitsPercent?: number;
  /** Nothing passes, and nobody is told. */
  isSilent?: boolean;
}

/** A TCP proxy whose faults a test switches on and off. */
export interface WeakLink {
  port: number;
  /** Replaces what was wrong before, also for open connections. */
  set(fault: LinkFault): void;
  /** New connections go there. */
  routeTo(port: number): void;
  /** How many connections it has reset, and replies to COMMIT it has lost. */
  readonly broken: { resets: number; commits: number };
  close(): Promise<void>;
}

// A message `CommandComplete` of PostgreSQL's protocol 3.0.
const commitReply = Buffer.from('COMMIT\0');

export async function startWeakLink(targetPort: number): Promise<WeakLink> {
  const link = { fault: {} as LinkFault, port: targetPort, broken: { resets: 0, commits: 0 } };
  const sockets = new Set<Socket>();
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
    return socket;
  };
  // Without a delay, as PostgreSQL and its clients send: waiting for more to send costs 40 ms at many a statement.
  const noDelay = true;
  const server = createServer({ noDelay }, (client) => {
    const upstream = connect({ host: '127.0.0.1', port: link.port, noDelay });
    track(client);
    track(upstream);
    const end = (): void => {
      client.resetAndDestroy();
      upstream.destroy();
    };
    void relay(client, upstream, { link, end, isReply: false });
    void relay(upstream, client, { link, end, isReply: true });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    set: (fault) => {
      link.fault = fault;
    },
    routeTo: (port) => {
      link.port = port;
    },
    broken: link.broken,
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

interface Relayed {
  link: { fault: LinkFault; broken: WeakLink['broken'] };
  end: () => void;
  isReply: boolean;
}

/** Passes on in order, as the faults of the moment let it. */
async function relay(from: Socket, to: Socket, { link, end, isReply }: Relayed): Promise<void> {
  const chance = (percent = 0): boolean => Math.random() * 100 < percent;
  try {
    for await (const part of from as AsyncIterable<Buffer>) {
      const { fault } = link;
      while (link.fault.isSilent) await sleep(50);
      if (chance(fault.resetsPercent)) {
        link.broken.resets += 1;
        return end();
      }
      if (isReply && part.includes(commitReply) && chance(fault.lostCommitsPercent)) {
        link.broken.commits += 1;
        return end();
      }
      if (fault.delayMs !== undefined) await sleep(fault.delayMs * (1 + Math.random()));
      if (fault.bytesPerSecond !== undefined) await sleep((1_000 * part.length) / fault.bytesPerSecond);
      const { sliceBytes = part.length } = fault;
      for (let start = 0; start < part.length; start += sliceBytes) to.write(part.subarray(start, start + sliceBytes));
    }
  } catch {
    // A side has reset the connection.
  }
  to.end();
}
