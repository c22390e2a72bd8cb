import { createHmac, hash } from 'node:crypto';
import type { Queryable } from '../kit/db.ts';
import { pagesOf } from '../kit/pages-of.ts';
import { isSameText } from '../kit/same-text.ts';
import type { BookName } from './block.ts';
import type { Book, OwnerHead } from './book.ts';
import { auditBook } from './queries/audit-book.ts';
import { ledgerBook } from './queries/ledger-book.ts';

export const books: readonly Book[] = [ledgerBook, auditBook];

/** A chain's newest block at some time, as it is recorded outside of the database. */
export interface RecordedHead {
  book: BookName;
  ownerId: string;
  number: bigint;
  hash: Buffer;
}

/** The newest blocks of all chains at one time. */
export interface Heads {
  at: Date;
  heads: readonly RecordedHead[];
  rows: bigint;
  /** One hash over all of them: short enough for a log line or a sheet of paper. */
  digest: string;
  /** Shows that the service wrote it: only whoever has KEY_PEPPER can. */
  signature: string;
}

const ownersPerPage = 500;

/** Every owner's newest block, at a time or now. */
export async function listAllHeads(db: Queryable, book: Book, at: Date | null = null): Promise<OwnerHead[]> {
  const pages = pagesOf<OwnerHead>(ownersPerPage, (last) =>
    book.listHeads(db, { after: last?.ownerId ?? null, rowsMax: ownersPerPage, at }),
  );
  const all: OwnerHead[] = [];
  for await (const heads of pages) all.push(...heads);
  return all;
}

/** All heads as of a time that is long enough ago for every block of before to be committed. */
export async function readHeads(db: Queryable, at: Date, key: string): Promise<Heads> {
  const heads: RecordedHead[] = [];
  let rows = 0n;
  for (const book of books) {
    for (const { ownerId, number, hash: ofBlock, rowsTotal } of await listAllHeads(db, book, at)) {
      heads.push({ book: book.name, ownerId, number, hash: ofBlock });
      rows += rowsTotal;
    }
  }
  const digest = digestOf(heads);
  return { at, heads, rows, digest, signature: signatureOf(at, digest, key) };
}

/** Whether each recorded head is still the block of its number, whatever was appended since. */
export async function areHeadsUnchanged(db: Queryable, { heads }: Pick<Heads, 'heads'>): Promise<boolean> {
  for (const book of books) {
    const recorded = heads.filter((head) => head.book === book.name);
    for (let first = 0; first < recorded.length; first += ownersPerPage) {
      const page = recorded.slice(first, first + ownersPerPage);
      if ((await book.countUnchanged(db, page)) !== BigInt(page.length)) return false;
    }
  }
  return true;
}

function digestOf(heads: readonly RecordedHead[]): string {
  const lines = heads.map((head) => `${head.book} ${head.ownerId} ${head.number} ${head.hash.toString('hex')}\n`);
  return hash('sha256', lines.join(''), 'hex');
}

function signatureOf(at: Date, digest: string, key: string): string {
  return createHmac('sha256', key).update(`${at.toISOString()} ${digest}`).digest('hex');
}

/** The text of a file that keeps them. */
export function formatHeads({ at, heads, digest, signature }: Heads): string {
  const chains = heads.map(({ book, ownerId, number, hash: ofBlock }) => [
    ...[book, ownerId, Number(number)],
    ofBlock.toString('hex'),
  ]);
  const lines = chains.map((chain) => JSON.stringify(chain)).join(',\n');
  const [time, ...more] = [at.toISOString(), digest, signature].map((text) => JSON.stringify(text));
  return `{"at":${time},"digest":${more[0]},"signature":${more[1]},"chains":[\n${lines}\n]}\n`;
}

/** What a file keeps; null if it is none of ours, or was changed. */
export function parseHeads(text: string, key: string): Pick<Heads, 'at' | 'heads' | 'digest'> | null {
  try {
    const { at, digest, signature, chains } = JSON.parse(text) as Record<string, unknown>;
    const time = new Date(String(at));
    const heads = (chains as [BookName, string, number, string][]).map(([book, ownerId, number, ofBlock]) => ({
      ...{ book, ownerId, number: BigInt(number), hash: Buffer.from(ofBlock, 'hex') },
    }));
    const isOurs = isSameText(String(signature), signatureOf(time, String(digest), key));
    return isOurs && digestOf(heads) === digest ? { at: time, heads, digest } : null;
  } catch {
    return null;
  }
}
