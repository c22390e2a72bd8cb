import type { Transaction } from '../kit/db.ts';
import { notBlank } from '../kit/not-blank.ts';
import type { Random } from '../kit/random.ts';
import type { Caller } from '../kit/route.ts';
import { readChatNumbers } from './chat-numbers.ts';
import { insertTerminal, claimCode } from './queries.ts';
import type { TerminalContext, VirtualTerminal } from './terminal.ts';

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
