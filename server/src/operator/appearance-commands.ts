import { table, UsageError, type CommandInput } from '../kit/command-line.ts';
import { AppearanceError, readAppearancePart, type MerchantAppearance } from '../merchants/appearance.ts';
import { lockTerms, setAppearance } from '../merchants/manage-rules.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { appearanceByField, colourField, contactFields } from '../portal/records/appearance-form.ts';
import { aboutMerchant, auditCommand } from './audit-command.ts';
import type { Command, CommandResult } from './command.ts';
import { merchantInWords, merchantOf } from './merchant-of.ts';

/** A part of the appearance: its option and its field. */
interface Part {
  option: 'colour' | 'phone' | 'whatsapp' | 'email' | 'text';
  field: keyof MerchantAppearance;
}

const parts: readonly Part[] = [
  { option: 'colour', field: 'pageColour' },
  { option: 'phone', field: 'contactPhone' },
  { option: 'whatsapp', field: 'contactWhatsapp' },
  { option: 'email', field: 'contactEmail' },
  { option: 'text', field: 'contactText' },
];

const appearanceFields = [colourField, ...contactFields];

const show: Command = {
  name: 'appearance show',
  usage: '--merchant <merchant id>',
  summary: 'Show a merchant’s colour and contact on its payers’ pages',
  run: async (context, input) => describe(await merchantOf(context, input)),
};

const set: Command = {
  name: 'appearance set',
  usage:
    '--merchant <merchant id> [--colour <#rrggbb>|none] [--phone <number>|none] [--whatsapp <number>|none] [--email <address>|none] [--text <sentence>|none]',
  summary: 'Set a merchant’s colour and contact on its payers’ pages',
  details: '  Payers see the contact where a page says to ask the shop. The logo has commands of its own.',
  async run(context, input) {
    const changes = readChanges(input);
    if (Object.keys(changes).length === 0) {
      throw new UsageError(`Give at least one of ${parts.map(({ option }) => `--${option}`).join(', ')}.`);
    }
    const changedMerchant = await context.db.withTransaction(async (tx) => {
      await lockTerms(tx);
      const merchant = await merchantOf({ db: tx }, input);
      await setAppearance(tx, merchant.id, changes);
      const changed = appearanceFields.filter(({ part }) => part in changes);
      auditCommand(tx, context, {
        ...{ ...aboutMerchant(merchant), action: 'appearance.set' },
        ...{ sent: appearanceByField(changed, changes), before: appearanceByField(changed, merchant) },
      });
      return { ...merchant, ...changes };
    });
    return describe(changedMerchant);
  },
};

export const appearanceCommands: readonly Command[] = [show, set];

function readChanges(input: CommandInput): Partial<MerchantAppearance> {
  return Object.fromEntries(
    parts.flatMap((part) => {
      const text = input.options[part.option]?.trim();
      if (text === undefined) return [];
      return [[part.field, text === 'none' ? null : readPart(part, text)]];
    }),
  );
}

function readPart({ option, field }: Part, text: string): string {
  try {
    return readAppearancePart(field, text);
  } catch (error) {
    if (error instanceof AppearanceError) throw new UsageError(`--${option}: ${error.message}`);
    throw error;
  }
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
    text: merchant.contactText,
    logo_set_at: merchant.logoSetAt,
  };
  return { text: `${merchantInWords(merchant)}\n${table(['PART', 'VALUE'], rows)}`, data, exitCode: 0 };
}
