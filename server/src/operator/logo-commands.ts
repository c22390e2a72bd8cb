import { readFile } from 'node:fs/promises';
import { UsageError } from '../kit/command-line.ts';
import { unreadableFile } from '../kit/start-error.ts';
import { removeLogo, setLogo } from '../merchants/logo/merchant-logo.ts';
import { pngProblem } from '../merchants/logo/png-check.ts';
import type { Command } from './command.ts';
import { merchantOf } from './merchant-of.ts';

const set: Command = {
  name: 'logo set',
  usage: '<file.png> --merchant <merchant id>',
  summary: 'Put a logo on a merchant’s posters and payers’ pages',
  details: '  The logo is a PNG of at most 200 kB and 2000 × 2000 pixels.',
  options: { merchant: { type: 'string', required: true } },
  positionals: 1,
  async run(context, input) {
    const [path = ''] = input.positionals;
    const merchant = await merchantOf(context, input);
    const png = await readFile(path).catch((error: unknown) => {
      throw new UsageError(unreadableFile(path, error));
    });
    const problem = pngProblem(png);
    if (problem !== null) throw new UsageError(`${path} ${problem}.`);
    await setLogo(context.db, { merchantId: merchant.id, png, updatedAt: context.clock.now() });
    const text = `${merchant.name} has this logo on its posters and pages now.`;
    return { text, data: { merchant_id: merchant.id, bytes: png.length }, exitCode: 0 };
  },
};

const remove: Command = {
  name: 'logo remove',
  usage: '--merchant <merchant id>',
  summary: 'Remove a merchant’s logo from posters and payers’ pages',
  options: { merchant: { type: 'string', required: true } },
  positionals: 0,
  async run(context, input) {
    const merchant = await merchantOf(context, input);
    if (!(await removeLogo(context.db, merchant.id))) throw new UsageError(`${merchant.name} has no logo.`);
    const text = `${merchant.name} has no logo on its posters and pages now.`;
    return { text, data: { merchant_id: merchant.id, removed: true }, exitCode: 0 };
  },
};

export const logoCommands: readonly Command[] = [set, remove];
