import { readFile } from 'node:fs/promises';
import { UsageError } from '../kit/command-line.ts';
import { unreadableFile } from '../kit/start-error.ts';
import { removeLogo, setLogo } from '../merchants/logo/merchant-logo.ts';
import { pngDimensions, pngProblem } from '../merchants/logo/png-check.ts';
import { aboutMerchant, auditCommand } from './audit-command.ts';
import type { Command } from './command.ts';
import { merchantOf } from './merchant-of.ts';

const set: Command = {
  name: 'logo set',
  usage: '<file.png> --merchant <merchant id>',
  summary: 'Put a logo on a merchant’s posters and payers’ pages',
  details: '  The logo is a PNG of at most 200 kB and 2000 × 2000 pixels.',
  async run(context, input) {
    const [path = ''] = input.positionals;
    const merchant = await merchantOf(context, input);
    const png = await readFile(path).catch((error: unknown) => {
      throw new UsageError(unreadableFile(path, error));
    });
    const problem = pngProblem(png);
    if (problem !== null) throw new UsageError(`${path} ${problem}.`);
    const { width, height } = pngDimensions(png);
    await context.db.withTransaction(async (tx) => {
      await setLogo(tx, { merchantId: merchant.id, png, updatedAt: context.clock.now() });
      const sent = { logo: `${width} × ${height} pixels` };
      auditCommand(tx, context, { ...aboutMerchant(merchant), action: 'logo.set', sent });
    });
    const text = `${merchant.name} has this logo on its posters and pages now.`;
    return { text, data: { merchant_id: merchant.id, bytes: png.length }, exitCode: 0 };
  },
};

const remove: Command = {
  name: 'logo remove',
  usage: '--merchant <merchant id>',
  summary: 'Remove a merchant’s logo from posters and payers’ pages',
  async run(context, input) {
    const merchant = await merchantOf(context, input);
    await context.db.withTransaction(async (tx) => {
      if (!(await removeLogo(tx, merchant.id))) throw new UsageError(`${merchant.name} has no logo.`);
      auditCommand(tx, context, { ...aboutMerchant(merchant), action: 'logo.remove' });
    });
    const text = `${merchant.name} has no logo on its posters and pages now.`;
    return { text, data: { merchant_id: merchant.id, removed: true }, exitCode: 0 };
  },
};

export const logoCommands: readonly Command[] = [set, remove];
