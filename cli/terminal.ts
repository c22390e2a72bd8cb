import { createInterface, type Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { OutputStream } from './output.ts';

/** Prompts and standard input. */
export interface Terminal {
  /** Whether there is a person to prompt. */
  isInteractive: boolean;
  /** Asks for confirmation; only y and yes confirm. */
  confirm(question: string): Promise<boolean>;
  /** All of standard input; at a terminal one line, which is not shown while it is typed. */
  readSecret(prompt: string): Promise<string>;
  /** All of standard input, as bytes. */
  readInput(): Promise<Buffer>;
}

/** Standard input, or what stands for it. */
export type InputStream = NodeJS.ReadableStream & { isTTY?: boolean };

interface Streams {
  stdin: InputStream;
  stderr: OutputStream;
}

export function createTerminal({ stdin, stderr }: Streams): Terminal {
  const isInteractive = stdin.isTTY === true && stderr.isTTY === true;
  const readInput = async (): Promise<Buffer> => {
    const chunks: Buffer[] = [];
    for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Uint8Array));
    return Buffer.concat(chunks);
  };
  return {
    isInteractive,
    readInput,
    confirm: async (question) => {
      const typed = await readLine(stdin, stderr, (lines) => lines.question(`${question} [y/N] `));
      return /^y(es)?$/i.test(typed.trim());
    },
    readSecret: async (prompt) => {
      if (!isInteractive) return (await readInput()).toString('utf8').trim();
      const typed = await readLine(stdin, nullStream(), (lines) => {
        // Only now: before the reader is attached, the terminal echoes what is typed.
        stderr.write(prompt);
        return lines.question('');
      });
      stderr.write('\n');
      return typed.trim();
    },
  };
}

async function readLine(
  input: InputStream,
  output: NodeJS.WritableStream,
  question: (lines: Interface) => Promise<string>,
): Promise<string> {
  using lines = createInterface({ input, output, terminal: true });
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  // Ctrl-C at a prompt has its usual effect.
  lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  return await Promise.race([question(lines), ended]);
}

function nullStream(): NodeJS.WritableStream {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}
