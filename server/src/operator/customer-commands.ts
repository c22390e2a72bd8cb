import { open, unlink } from 'node:fs/promises';
import { resolve } from 'node:path';
import { getCustomer } from '../customers/manage-customers.ts';
import { UsageError } from '../kit/command-line.ts';
import { customerData } from '../portal/records/customer-data.ts';
import { aboutMerchant, auditCommand } from './audit-command.ts';
import type { Command } from './command.ts';
import { merchantOf } from './merchant-of.ts';

const exportData: Command = {
  name: 'customers export',
  usage: '<customer id> --merchant <merchant id> --to <file>',
  summary: 'Write all that is stored about a customer to a file, as JSON',
  details:
    '  For a person who asks a business for their data. The file has their numbers in full: only you can read it.',
  async run(context, input) {
    const merchant = await merchantOf(context, input);
    const customer = await getCustomer(context.db, merchant.id, input.positionals[0] ?? '');
    const money = await context.moneyWork();
    const path = resolve(input.options['to'] ?? '');
    // Before it exists, so that no copy is without its entry.
    await context.db.withTransaction(async (tx) =>
      auditCommand(tx, context, {
        ...{ ...aboutMerchant(merchant), action: 'customers.export' },
        object: { type: 'customer', id: customer.id },
      }),
    );
    const bytes = await writeNew(path, customerData(money, merchant, customer));
    return { text: `${path} has the data of ${customer.id}.`, data: { file: path, bytes }, exitCode: 0 };
  },
};

/** Writes a file that only this user can read. Throws UsageError where there is one. */
async function writeNew(path: string, texts: AsyncIterable<string>): Promise<number> {
  const file = await open(path, 'wx', 0o600).catch((error: unknown) => {
    throw new UsageError(`${path} cannot be created: ${error instanceof Error ? error.message : String(error)}`);
  });
  try {
    let bytes = 0;
    for await (const text of texts) {
      // All of it: a single write may end early where the disk is nearly full.
      await file.writeFile(text);
      bytes += Buffer.byteLength(text);
    }
    return bytes;
  } catch (error) {
    // A part is no export, and would be in the way of the next one.
    await unlink(path);
    throw error;
  } finally {
    await file.close();
  }
}

export const customerCommands: readonly Command[] = [exportData];
