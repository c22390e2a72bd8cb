import { table, UsageError } from '../kit/command-line.ts';
import type { CommandInput } from '../kit/command-line.ts';
import { parseInternationalNumber, PhoneNumberError } from '../kit/phone-number.ts';
import { contrast, contrastMin, withContrast } from '../kit/colour.ts';
import type { MerchantAppearance } from '../merchants/appearance.ts';
import { setAppearance } from '../merchants/manage-rules.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { Command, CommandResult } from './command.ts';
import { merchantInWords, merchantOf } from './merchant-of.ts';

/** A part of the appearance: its option, its field, and what it accepts. */
interface Part {
  option: 'colour' | 'phone' | 'whatsapp' | 'email';
  field: keyof MerchantAppearance;
  read(text: string): string;
}

const parts: readonly Part[] = [
  { option: 'colour', field: 'pageColour', read: readColour },
  { option: 'phone', field: 'contactPhone', read: (text) => readNumber('phone', text) },
  { option: 'whatsapp', field: 'contactWhatsapp', read: (text) => readNumber('whatsapp', text) },
  { option: 'email', field: 'contactEmail', read: readEmail },
];

const merchantOption = { merchant: { type: 'string', required: true } } as const;

const show: Command = {
  name: 'appearance show',
  usage: '--merchant <merchant id>',
  summary: 'Show a merchant’s colour and contact on its payers’ pages',
  options: merchantOption,
  positionals: 0,
  run: async (context, input) => describe(await merchantOf(context, input)),
};

const set: Command = {
  name: 'appearance set',
  usage:
    '--merchant <merchant id> [--colour <#rrggbb>|none] [--phone <number>|none] [--whatsapp <number>|none] [--email <address>|none]',
  summary: 'Set a merchant’s colour and contact on its payers’ pages',
  details: '  Payers see the contact where a page says to ask the shop. The logo has commands of its own.',
  options: {
    ...merchantOption,
    colour: { type: 'string', required: false },
    phone: { type: 'string', required: false },
    whatsapp: { type: 'string', required: false },
    email: { type: 'string', required: false },
  },
  positionals: 0,
  async run(context, input) {
    const merchant = await merchantOf(context, input);
    const changes = readChanges(input);
    if (Object.keys(changes).length === 0) {
      throw new UsageError(`Give at least one of ${parts.map(({ option }) => `--${option}`).join(', ')}.`);
    }
    await setAppearance(context.db, merchant.id, changes);
    return describe({ ...merchant, ...changes });
  },
};

export const appearanceCommands: readonly Command[] = [show, set];

function readChanges(input: CommandInput): Partial<MerchantAppearance> {
  return Object.fromEntries(
    parts.flatMap(({ option, field, read }) => {
      const text = input.options[option]?.trim();
      if (text === undefined) return [];
      return [[field, text === 'none' ? null : read(text)]];
    }),
  );
}

/** Buttons have white text on the colour. */
function readColour(text: string): string {
  const colour = text.toLowerCase();
  if (!/^#[0-9a-f]{6}$/.test(colour)) throw new UsageError('A colour is written as #rrggbb, for example #0b6a55.');
  if (contrast(colour, '#ffffff') >= contrastMin) return colour;
  const darker = withContrast(colour, { background: '#ffffff', end: '#000000' });
  throw new UsageError(`White text on ${colour} is hard to read. The nearest colour on which it is not: ${darker}`);
}

function readNumber(option: string, text: string): string {
  try {
    return parseInternationalNumber(text, { strict: true });
  } catch (error) {
    if (error instanceof PhoneNumberError) throw new UsageError(`--${option}: ${error.message}`);
    throw error;
  }
}

// The longest address that can be delivered to (RFC 5321, section 4.5.3.1.3).
const emailLengthMax = 254;
// Payers open it as a `mailto:` link: only what needs no escape there, and nothing that is invisible or changes the direction of text.
const emailPattern = /^[\w.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/;

function readEmail(text: string): string {
  if (text.length > emailLengthMax || !emailPattern.test(text)) {
    throw new UsageError('--email: write an address such as shop@example.gm.');
  }
  return text;
}

function describe(merchant: Merchant): CommandResult {
  const rows = parts.map(({ option, field }) => [option, merchant[field] ?? 'none']);
  rows.push(['logo', merchant.logoSetAt === null ? 'none' : `set ${merchant.logoSetAt.toISOString()}`]);
  const data = {
    merchant_id: merchant.id,
    colour: merchant.pageColour,
    phone: merchant.contactPhone,
    whatsapp: merchant.contactWhatsapp,
    email: merchant.contactEmail,
    logo_set_at: merchant.logoSetAt,
  };
  return { text: `${merchantInWords(merchant)}\n${table(['PART', 'VALUE'], rows)}`, data, exitCode: 0 };
}
