import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import { getCustomer } from '../customers/manage-customers.ts';
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
  options: { merchant: { type: 'string', required: true }, to: { type: 'string', required: true } },
  positionals: 1,
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
    const file = createWriteStream(path, { flags: 'wx', mode: 0o600 });
    let bytes = 0;
    for await (const text of customerData(money, merchant, customer)) {
      bytes += Buffer.byteLength(text);
      if (!file.write(text)) await once(file, 'drain');
    }
    file.end();
    await finished(file);
    return { text: `${path} has the data of ${customer.id}.`, data: { file: path, bytes }, exitCode: 0 };
  },
};

export const customerCommands: readonly Command[] = [exportData];
