import { table, UsageError, type CommandInput } from '../kit/command-line.ts';
import type { Queryable } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import { clearLimit, findRules, setLimit } from '../merchants/manage-rules.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { limitValues, type RuleValues } from '../merchants/rule-values.ts';
import { findLimit, limitKinds, type LimitKind, type StoredLimit } from '../merchants/rules.ts';
import { readAmount } from './amount-option.ts';
import { aboutOwner, auditCommand } from './audit-command.ts';
import type { Command, CommandContext, CommandResult } from './command.ts';
import {
  amountOrNull,
  changeRules,
  ownerInWords,
  ownerOf,
  readOwner,
  showCommand,
  sourceInWords,
} from './rule-owner.ts';

const show: Command = {
  name: 'limits show',
  usage: '(--merchant <merchant id> | --default)',
  summary: 'Show the limits of transfers',
  run: describeLimits,
};

const set: Command = {
  name: 'limits set',
  usage: '(--merchant <merchant id> | --default) [--largest <dalasi>|none] [--daily <dalasi>|none]',
  summary: 'Limit one transfer, or all transfers of a UTC day',
  details: '  none exempts a merchant from the default limit.',
  async run(context, input) {
    const limits = limitKinds.flatMap((kind) => readLimit(input, kind));
    if (limits.length === 0) throw new UsageError('Give at least one limit: --largest or --daily.');
    await changeRules(context, input, async (tx, owner) => {
      if (owner === 'default' && limits.some(({ amountMinor }) => amountMinor === null)) {
        throw new UsageError('A default cannot be none: use limits clear --default.');
      }
      const before = await ownValues(tx, owner);
      for (const limit of limits) await setLimit(tx, ownerOf(owner), limit);
      auditCommand(tx, context, { ...aboutOwner(owner), action: 'limits.set', sent: limitValues(limits), before });
    });
    return describeLimits(context, input);
  },
};

const clear: Command = {
  name: 'limits clear',
  usage: '<largest|daily> (--merchant <merchant id> | --default)',
  summary: 'Remove a limit of transfers',
  details: '  The default then applies to the merchant; without a default there is no limit.',
  async run(context, input) {
    const kind = limitKinds.find((candidate) => candidate === input.positionals[0]);
    if (!kind) throw new UsageError(`A limit is ${limitKinds.join(' or ')}, not ${input.positionals[0]}.`);
    await changeRules(context, input, async (tx, owner) => {
      const before = await ownValues(tx, owner);
      if (!(await clearLimit(tx, ownerOf(owner), kind))) {
        throw new UsageError(`This limit is not set. See: ${showCommand('limits', owner)}`);
      }
      auditCommand(tx, context, { ...aboutOwner(owner), action: 'limits.set', sent: { [kind]: '' }, before });
    });
    return describeLimits(context, input);
  },
};

export const limitCommands: readonly Command[] = [show, set, clear];

/** The owner's limits before a change. */
async function ownValues(db: Queryable, owner: Merchant | 'default'): Promise<RuleValues> {
  const { own, defaults } = await findRules(db, ownerOf(owner));
  return limitValues((owner === 'default' ? defaults : own).limits);
}

function readLimit(input: CommandInput, kind: LimitKind): StoredLimit[] {
  if (input.options[kind] === 'none') return [{ kind, amountMinor: null }];
  const amountMinor = readAmount(input, kind);
  return amountMinor === undefined ? [] : [{ kind, amountMinor }];
}

/** The limits in force, read again after a change. */
async function describeLimits(context: CommandContext, input: CommandInput): Promise<CommandResult> {
  const owner = await readOwner(context, input);
  const rules = await findRules(context.db, ownerOf(owner));
  const lines = limitKinds.map((kind) => {
    const found = findLimit(rules, kind);
    return { kind, amountMinor: found?.amountMinor ?? null, source: found?.source };
  });
  const rows = lines.map(({ kind, amountMinor, source }) => [
    kind,
    amountMinor === null ? 'no limit' : formatAmount(amountMinor),
    sourceInWords(source),
  ]);
  const data = {
    merchant_id: owner === 'default' ? null : owner.id,
    limits: lines.map(({ kind, amountMinor, source }) => ({
      limit: kind,
      amount: amountOrNull(amountMinor),
      source: source ?? null,
    })),
  };
  return { text: `${ownerInWords(owner)}\n${table(['LIMIT', 'AMOUNT', 'FROM'], rows)}`, data, exitCode: 0 };
}
