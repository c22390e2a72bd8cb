import { AppError } from '../kit/app-error.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import { notBlank } from '../kit/not-blank.ts';
import type { Random } from '../kit/random.ts';
import type { Caller } from '../kit/route.ts';
import { readChatNumbers } from './chat-numbers.ts';
import {
  findTerminalRow,
  lockTerminalForChange,
  insertTerminal,
  claimCode,
  updateTerminalRow,
  markTerminalDeleted,
} from './queries.ts';
import type { VirtualTerminal, TerminalContext } from './terminal.ts';

/** Throws AppError `not_found`, also for another merchant's and the other environment's, and for a deleted one. */
export async function getTerminal(db: Queryable, merchantId: string, id: string): Promise<VirtualTerminal> {
  const terminal = isUuid(id) ? await findTerminalRow(db, merchantId, id) : undefined;
  return found(terminal?.deletedAt === null ? terminal : undefined);
}

/** The same, and neither changed nor deleted by anybody else before the transaction ends. */
export async function getTerminalForChange(tx: Transaction, merchantId: string, id: string): Promise<VirtualTerminal> {
  return found(isUuid(id) ? await lockTerminalForChange(tx, merchantId, id) : undefined);
}

/** As it is now, also one that was deleted. Throws AppError `not_found` for one that never was this merchant's. */
export async function getTerminalForPayment(db: Queryable, merchantId: string, id: string): Promise<VirtualTerminal> {
  return found(isUuid(id) ? await findTerminalRow(db, merchantId, id) : undefined);
}

function found(terminal: VirtualTerminal | undefined): VirtualTerminal {
  if (terminal) return terminal;
  throw notFound();
}

export function notFound(): AppError {
  return new AppError('not_found', 'There is no virtual terminal with this id in this environment.');
}

// From 1,000,000, so that no program that takes a code for a number loses its first digit.
const codeMin = 1_000_000;
const codesCount = 9_000_000;
// The largest multiple of the count that fits into 32 bits: what lies above would make the first codes likelier.
const unbiasedMax = codesCount * Math.floor(2 ** 32 / codesCount);
// With a million terminals every ninth draw is taken already; 40 in a row are not while one code in five is left.
const drawsMax = 40;

/** Throws AppError `invalid_request` naming the field. */
export async function createTerminal(
  tx: Transaction,
  context: TerminalContext,
  caller: Caller,
  request: { name: string; chatNumbers: readonly string[] },
): Promise<VirtualTerminal> {
  const now = context.clock.now();
  const draft = {
    merchantId: caller.merchantId,
    id: context.newId(),
    name: notBlank(request.name, 'name'),
    ...readChatNumbers(caller, request.chatNumbers),
    active: true,
    createdAt: now,
    updatedAt: now,
    rateLimit: null,
    deletedAt: null,
  };
  const terminal: VirtualTerminal = { ...draft, code: await newCode(tx, context.random, draft) };
  tx.send(insertTerminal(terminal));
  return terminal;
}

/** A code that nobody has or had; whoever draws the same one at the same time waits, and draws again. */
async function newCode(
  tx: Transaction,
  random: Random,
  terminal: Pick<VirtualTerminal, 'merchantId' | 'id'>,
): Promise<string> {
  for (let draws = 0; draws < drawsMax; draws += 1) {
    const code = randomCode(random);
    if (await claimCode(tx, { ...terminal, code })) return code;
  }
  throw new Error(`${drawsMax} codes in a row were taken: the seven digits are used up`);
}

function randomCode(random: Random): string {
  for (;;) {
    const drawn = Buffer.from(random.bytes(4)).readUInt32BE();
    if (drawn < unbiasedMax) return String(codeMin + (drawn % codesCount));
  }
}

/** What is left out stays as it is. */
export interface TerminalChange {
  name?: string | undefined;
  chatNumbers?: readonly string[] | undefined;
  active?: boolean | undefined;
}

/**
 * The code and with it the QR code stay: what hangs on the wall goes on working. A change of nothing leaves everything as
 * it is. Throws AppError `not_found`, and `invalid_request` naming the field.
 */
export async function updateTerminal(
  tx: Transaction,
  context: TerminalContext,
  caller: Caller,
  request: { id: string; change: TerminalChange },
): Promise<VirtualTerminal> {
  const { name, chatNumbers, active } = request.change;
  const terminal = await getTerminalForChange(tx, caller.merchantId, request.id);
  if (name === undefined && chatNumbers === undefined && active === undefined) return terminal;
  const changed: VirtualTerminal = {
    ...terminal,
    name: name === undefined ? terminal.name : notBlank(name, 'name'),
    active: active ?? terminal.active,
    ...(chatNumbers === undefined ? {} : readChatNumbers(caller, chatNumbers)),
    updatedAt: context.clock.now(),
  };
  tx.send(updateTerminalRow(changed));
  return changed;
}

/**
 * From the commit on the terminal answers 404 and its page says that it is gone; its code is never given out again. Its
 * payments stay, and those that were begun can still be paid. Throws AppError `not_found`.
 */
export async function deleteTerminal(
  tx: Transaction,
  context: { clock: Clock },
  terminal: { merchantId: string; id: string },
): Promise<void> {
  const deleted = isUuid(terminal.id) ? await markTerminalDeleted(tx, terminal, context.clock.now()) : 0;
  if (deleted === 0) throw notFound();
}
