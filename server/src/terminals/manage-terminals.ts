import { AppError, fieldError } from '../api/app-error.ts';
import type { Clock } from '../kit/clock.ts';
import { canonicalContactNumber, notBlank } from '../api/field-values.ts';
import { getterOf } from '../api/get-record.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import type { Random } from '../kit/random.ts';
import type { Caller } from '../api/route.ts';
import {
  claimCode,
  findTerminalRow,
  insertTerminal,
  lockTerminalForChange,
  markTerminalDeleted,
  updateTerminalRow,
} from './queries.ts';
import type { VirtualTerminal, TerminalContext } from './terminal.ts';

export { listTerminalsWithRateLimit, updateTerminalRateLimit as setTerminalRateLimit } from './queries.ts';

const notFound = 'There is no virtual terminal with this id in this environment.';

/** Throws AppError `not_found`, also for a deleted terminal. */
export const getTerminal = getterOf(findTerminal, notFound);
const getTerminalForChange = getterOf(lockTerminalForChange, notFound);
/** Also returns a deleted terminal. */
export const getTerminalForPayment = getterOf(findTerminalRow, notFound);

async function findTerminal(db: Queryable, merchantId: string, id: string): Promise<VirtualTerminal | undefined> {
  const terminal = await findTerminalRow(db, merchantId, id);
  return terminal?.deletedAt === null ? terminal : undefined;
}

// From 1,000,000, so that a program that reads a code as a number keeps all seven digits.
const codeMin = 1_000_000;
const codesCount = 9_000_000;
// The largest multiple of the count within 32 bits. Larger draws are rejected, as they would make the first codes likelier.
const unbiasedMax = codesCount * Math.floor(2 ** 32 / codesCount);
// With a million terminals one draw in nine is in use; 40 in a row are in use only when nearly all codes are.
const drawsMax = 40;

/** Throws AppError `invalid_request` naming the field. */
export async function createTerminal(
  tx: Transaction,
  context: Pick<TerminalContext, 'clock' | 'random' | 'newId'>,
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

/** A code that was never used. A concurrent draw of the same code waits for this transaction, then draws again. */
async function newCode(
  tx: Transaction,
  random: Random,
  terminal: Pick<VirtualTerminal, 'merchantId' | 'id'>,
): Promise<string> {
  for (let draws = 0; draws < drawsMax; draws += 1) {
    const code = randomCode(random);
    if (await claimCode(tx, { ...terminal, code })) return code;
  }
  throw new Error(`${drawsMax} drawn codes in a row were in use: the seven-digit codes are used up`);
}

function randomCode(random: Random): string {
  for (;;) {
    const drawn = Buffer.from(random.bytes(4)).readUInt32BE();
    if (drawn < unbiasedMax) return String(codeMin + (drawn % codesCount));
  }
}

/** Absent fields stay unchanged. */
export interface TerminalChange {
  name?: string | undefined;
  chatNumbers?: readonly string[] | undefined;
  active?: boolean | undefined;
}

/**
 * Keeps the code and the QR code, so that printed posters keep working. An empty change writes nothing. Throws AppError
 * `not_found`, and `invalid_request` naming the field.
 */
export async function updateTerminal(
  tx: Transaction,
  clock: Clock,
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
    updatedAt: clock.now(),
  };
  tx.send(updateTerminalRow(changed));
  return changed;
}

/**
 * After the commit the API answers 404 for the terminal, and its page says that the counter no longer exists. Its code is never
 * reused. Its payments stay, and payments that have started can still be completed. Throws AppError `not_found`.
 */
export async function deleteTerminal(
  tx: Transaction,
  clock: Clock,
  terminal: { merchantId: string; id: string },
): Promise<void> {
  const deleted = isUuid(terminal.id) ? await markTerminalDeleted(tx, terminal, clock.now()) : 0;
  if (deleted === 0) throw new AppError('not_found', notFound);
}

/**
 * The numbers as sent and as E.164. Refuses a number that is there twice in different spellings, because it would get each
 * message twice. Throws AppError `invalid_request` naming `chat_numbers.N`.
 */
function readChatNumbers(
  { testMode }: Pick<Caller, 'testMode'>,
  chatNumbers: readonly string[],
): Pick<VirtualTerminal, 'chatNumbers' | 'chatCanonical'> {
  const chatCanonical: string[] = [];
  for (const [index, number] of chatNumbers.entries()) {
    const path = `chat_numbers.${index}`;
    const canonical = canonicalContactNumber(number, { strict: !testMode, path });
    const same = chatCanonical.indexOf(canonical);
    if (same !== -1) {
      throw fieldError('invalid_request', path, `${path} is the same number as chat_numbers.${same}. Send it once.`);
    }
    chatCanonical.push(canonical);
  }
  return { chatNumbers: [...chatNumbers], chatCanonical };
}
