import { createServer, type Socket } from 'node:net';

/** A mail server on this machine that keeps what it receives, as raw bytes. */
export interface SmtpReceiver extends AsyncDisposable {
  url: string;
  /** Each message as it arrived, with the recipients of its envelope. */
  messages: { recipients: string[]; raw: string }[];
  /** The first word of each command. */
  commands: string[];
  /** What it answers to the next recipients, such as `450 try later`; `250` otherwise. */
  refusals: string[];
}

type Received = Pick<SmtpReceiver, 'messages' | 'refusals' | 'commands'>;

export async function startSmtpReceiver(host = '127.0.0.1'): Promise<SmtpReceiver> {
  const receiver: Received = { messages: [], refusals: [], commands: [] };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    converse(socket, receiver);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, host, resolve);
  });
  const address = server.address();
  return {
    ...receiver,
    url: `smtp://${host}:${typeof address === 'object' ? address?.port : ''}`,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

/** RFC 5321, as much of it as a client that sends needs. */
function converse(socket: Socket, { messages, refusals, commands }: Received): void {
  let buffered = '';
  let recipients: string[] = [];
  let isData = false;
  const replyTo = (line: string): string => {
    const [command = ''] = line.toUpperCase().split(' ');
    commands.push(command);
    // It knows no encryption.
    if (command === 'STARTTLS') return '502 unknown';
    if (command === 'RCPT') {
      const refusal = refusals.shift();
      if (refusal !== undefined) return refusal;
      recipients.push(/<(.*)>/.exec(line)?.[1] ?? '');
    }
    if (command === 'DATA') {
      isData = true;
      return '354 go on';
    }
    return command === 'QUIT' ? '221 bye' : '250 ok';
  };
  socket.write('220 receiver\r\n');
  socket.on('data', (bytes) => {
    buffered += bytes.toString('latin1');
    for (;;) {
      const end = isData ? '\r\n.\r\n' : '\r\n';
      const at = buffered.indexOf(end);
      if (at < 0) return;
      const text = buffered.slice(0, at);
      buffered = buffered.slice(at + end.length);
      if (isData) {
        isData = false;
        messages.push({ recipients, raw: text });
        recipients = [];
      }
      socket.write(`${isData || end === '\r\n' ? replyTo(text) : '250 kept'}\r\n`);
    }
  });
}
