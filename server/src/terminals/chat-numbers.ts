import { fieldError } from '../kit/app-error.ts';
import { canonicalContactNumber } from '../kit/contact-number.ts';
import type { Caller } from '../kit/route.ts';
import type { VirtualTerminal } from './terminal.ts';

/**
 * The numbers as they were sent and their E.164 forms. Two spellings of one line would get each message twice, so the
 * second is refused. Throws AppError `invalid_request` naming `chat_numbers.N`.
 */
export function readChatNumbers(
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
