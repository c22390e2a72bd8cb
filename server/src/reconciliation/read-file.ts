import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { AppError } from '../api/app-error.ts';
import { readCsv } from './read-csv.ts';
import { readXlsx } from './read-xlsx.ts';
import type { Row } from './row.ts';

// A statement of a million lines as CSV has 150 MB.
const bytesMax = 1_024 * 1_024 * 1_024;
const headBytes = 64 * 1_024;

export interface OpenedFile {
  path: string;
  bytes: number;
  /** SHA-256 of its bytes. */
  hash: string;
  isWorkbook: boolean;
  rows(encoding: string): AsyncGenerator<Row>;
}

/** Opens a statement's file, CSV or XLSX by its first bytes. Throws AppError `invalid_request`. */
export async function openStatementFile(path: string): Promise<OpenedFile> {
  const found = await stat(path).catch(() => null);
  if (!found?.isFile()) throw new AppError('invalid_request', 'There is no such file.');
  if (found.size === 0) throw new AppError('invalid_request', 'The file is empty.');
  if (found.size > bytesMax) throw new AppError('invalid_request', 'The file is larger than 1 GiB.');
  const head = await readHead(path);
  const isWorkbook = head[0] === 0x50 && head[1] === 0x4b;
  return {
    path,
    bytes: found.size,
    hash: await hashOf(path),
    isWorkbook,
    rows: (encoding) => (isWorkbook ? readXlsx(path) : readCsv(path, head, encoding)),
  };
}

async function readHead(path: string): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(new Uint8Array(headBytes), 0, headBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}

/** The lines of a file, to show how much of it is done; 0 for one that is packed. */
export async function countLines(path: string): Promise<number> {
  let lines = 0;
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1_024 * 1_024 })) {
      const bytes = chunk as Uint8Array;
      if (lines === 0 && bytes[0] === 0x50 && bytes[1] === 0x4b) return 0;
      for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines += 1;
    }
  } catch {
    // Whoever opens the file says what is wrong with it.
    return 0;
  }
  return lines;
}
