import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** What is said of a name: its addresses of the family, none, or nothing at all. */
export type NameResponse = readonly string[] | 'no_such_name' | 'silence';

export interface Question {
  name: string;
  family: 4 | 6;
}

const typeA = 1;
const headerBytes = 12;

/** A name server on loopback that says what the test wants, and keeps what it was asked (RFC 1035). */
export async function startNameServer(respond: (question: Question) => NameResponse) {
  const questions: Question[] = [];
  const held: (() => void)[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, { address, port }) => {
    const { question, endsAt } = readQuestion(message);
    questions.push(question);
    const response = respond(question);
    const reply = (text: Exclude<NameResponse, 'silence'>): void =>
      socket.send(responseTo(message, endsAt, text), port, address);
    if (response === 'silence') held.push(() => reply('no_such_name'));
    else reply(response);
  });
  // A test that fails must not go on for ever.
  socket.unref();
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    /** Answers after all what was met with silence: there is no such name. */
    endSilence: (): void => {
      for (const reply of held.splice(0)) reply();
    },
    /** Whoever still waits hears at once that nobody listens. */
    close: async (): Promise<void> => {
      socket.close();
      await once(socket, 'close');
    },
  };
}

function readQuestion(message: Buffer): { question: Question; endsAt: number } {
  const labels: string[] = [];
  let offset = headerBytes;
  for (let length = message.readUInt8(offset); length > 0; length = message.readUInt8(offset)) {
    labels.push(message.toString('latin1', offset + 1, offset + 1 + length));
    offset += 1 + length;
  }
  const family = message.readUInt16BE(offset + 1) === typeA ? 4 : 6;
  return { question: { name: labels.join('.').toLowerCase(), family }, endsAt: offset + 5 };
}

function responseTo(message: Buffer, questionEndsAt: number, response: Exclude<NameResponse, 'silence'>): Buffer {
  const addresses = response === 'no_such_name' ? [] : response;
  const header = Buffer.from(message.subarray(0, headerBytes));
  header.writeUInt16BE(response === 'no_such_name' ? 0x8183 : 0x8180, 2);
  header.writeUInt16BE(addresses.length, 6);
  // What the question brings beside the name, such as its EDNS options, is not said again.
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, message.subarray(headerBytes, questionEndsAt), ...addresses.map(record)]);
}

/** One address of the name that was asked for, for no time at all. */
function record(address: string): Buffer {
  const bytes = address.includes(':') ? ipv6Bytes(address) : Buffer.from(address.split('.').map(Number));
  const head = Buffer.from([0xc0, headerBytes, 0, bytes.length === 4 ? typeA : 28, 0, 1, 0, 0, 0, 0, 0, bytes.length]);
  return Buffer.concat([head, bytes]);
}

/** Of addresses that are written with all their eight parts. */
function ipv6Bytes(address: string): Buffer {
  return Buffer.from(
    address
      .split(':')
      .map((part) => part.padStart(4, '0'))
      .join(''),
    'hex',
  );
}
