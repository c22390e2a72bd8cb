import { table, UsageError, type CommandInput } from '../kit/command-line.ts';
import type { Queryable } from '../kit/db.ts';
import { parseHundredths, percentToJson, wholePercent } from '../kit/money.ts';
import { clearReserve, findReserves, setReserve } from '../merchants/manage-rules.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { cleared, reserveValues, type RuleValues } from '../merchants/rule-values.ts';
import { reserveDaysMax, reserveHoursMax, type ReserveRule, type RuleSource } from '../merchants/rules.ts';
import { aboutOwner, auditCommand } from './audit-command.ts';
import type { Command, CommandContext, CommandResult } from './command.ts';
import { changeRules, ownerInWords, ownerOf, readOwner, showCommand, sourceInWords } from './rule-owner.ts';

const show: Command = {
  name: 'reserve show',
  usage: '(--merchant <merchant id> | --default)',
  summary: 'Show what part of each payment is held in reserve',
  run: describeReserve,
};

const set: Command = {
  name: 'reserve set',
  usage: '(--merchant <merchant id> | --default) --percent <percent> [--hours <hours>] [--new-for-days <days>]',
  summary: 'Hold a part of each payment in reserve for some hours',
  details:
    '  With --new-for-days the rule applies to merchants in their first days only.\n  --percent 0 exempts a merchant from the default.',
  async run(context, input) {
    const rule = readRule(input);
    await changeRules(context, input, async (tx, owner) => {
      if (owner === 'default' && rule.percentHundredths === 0n) {
        throw new UsageError('A default cannot be 0: use reserve clear --default.');
      }
      const before = await ownValues(tx, owner);
      await setReserve(tx, ownerOf(owner), rule);
      auditCommand(tx, context, { ...aboutOwner(owner), action: 'settlement.set', sent: reserveValues(rule), before });
    });
    return describeReserve(context, input);
  },
};

const clear: Command = {
  name: 'reserve clear',
  usage: '(--merchant <merchant id> | --default)',
  summary: 'Remove a reserve rule',
  details: '  The default then applies to a live merchant. What is held already is released at its time.',
  async run(context, input) {
    await changeRules(context, input, async (tx, owner) => {
      const before = await ownValues(tx, owner);
      if (!(await clearReserve(tx, ownerOf(owner)))) {
        throw new UsageError(`This rule is not set. See: ${showCommand('reserve', owner)}`);
      }
      auditCommand(tx, context, { ...aboutOwner(owner), action: 'settlement.set', sent: cleared, before });
    });
    return describeReserve(context, input);
  },
};

export const reserveCommands: readonly Command[] = [show, set, clear];

/** The owner's rule before a change. */
async function ownValues(db: Queryable, owner: Merchant | 'default'): Promise<RuleValues> {
  const { own, fallback } = await findReserves(db, ownerOf(owner));
  return reserveValues(owner === 'default' ? fallback : own);
}

function readRule({ options }: CommandInput): ReserveRule {
  const { percent: percentText = '', hours: hoursText, 'new-for-days': daysText } = options;
  const percentHundredths = parseHundredths(percentText);
  if (percentHundredths === undefined || percentHundredths > wholePercent) {
    throw new UsageError(`--percent is from 0 to 100 with at most two decimals, not ${percentText}.`);
  }
  if (percentHundredths > 0n && hoursText === undefined) {
    throw new UsageError('--hours is missing: how long after the payment the part is held.');
  }
  const hours = hoursText === undefined ? 0n : readWhole('hours', hoursText, reserveHoursMax);
  const newForDays = daysText === undefined ? null : readWhole('new-for-days', daysText, reserveDaysMax);
  return { percentHundredths, hours, newForDays };
}

function readWhole(name: string, text: string, max: bigint): bigint {
  const value = /^\d{1,6}$/.test(text) ? BigInt(text) : 0n;
  if (value >= 1n && value <= max) return value;
  throw new UsageError(`--${name} is a whole number from 1 to ${max}, not ${text}.`);
}

/** The rule in force, read again after a change. */
async function describeReserve(context: CommandContext, input: CommandInput): Promise<CommandResult> {
  const owner = await readOwner(context, input);
  const { own, fallback } = await findReserves(context.db, ownerOf(owner));
  const isTest = owner !== 'default' && owner.testMode;
  const rule = own ?? (isTest ? null : fallback);
  const source = sourceOf(rule, own);
  const rows = [[...inWords(rule), sourceInWords(source)]];
  const data = {
    merchant_id: owner === 'default' ? null : owner.id,
    percent: rule === null ? 0 : percentToJson(rule.percentHundredths),
    hours: Number(rule?.hours ?? 0n),
    new_for_days: daysOf(rule),
    source: source ?? null,
  };
  const text = `${ownerInWords(owner)}\n${table(['HELD', 'FOR', 'OF MERCHANTS', 'FROM'], rows)}`;
  return { text, data, exitCode: 0 };
}

function sourceOf(rule: ReserveRule | null, own: ReserveRule | null): RuleSource | undefined {
  if (rule === null) return undefined;
  return own === null ? 'default' : 'merchant';
}

function daysOf(rule: ReserveRule | null): number | null {
  const days = rule?.newForDays ?? null;
  return days === null ? null : Number(days);
}

function inWords(rule: ReserveRule | null): string[] {
  if (rule === null || rule.percentHundredths === 0n) return ['nothing', '-', '-'];
  const { percentHundredths, hours, newForDays } = rule;
  const whose = newForDays === null ? 'of any age' : `in their first ${newForDays} days`;
  return [`${percentToJson(percentHundredths)} %`, `${hours} hours`, whose];
}
