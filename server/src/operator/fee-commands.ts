import { table, UsageError, type CommandInput } from '../kit/command-line.ts';
import { amountToJson, parseHundredths, wholePercent } from '../kit/money.ts';
import { feeInWords, noFee, type FeePayer, type FeeRule } from '../merchants/fees.ts';
import { clearFeeRule, findRules, setFeePayer, setFeeRule } from '../merchants/manage-rules.ts';
import { cleared, feeValues, type RuleValues } from '../merchants/rule-values.ts';
import {
  allNetworks,
  findFeeRule,
  networksNamed,
  type Operation,
  type RuleSource,
  type StoredFeeRule,
} from '../merchants/rules.ts';
import { knownNetworks } from '../networks/known-networks.ts';
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

const partNames = ['percent', 'fixed', 'minimum', 'maximum'] as const;

const show: Command = {
  name: 'fees show',
  usage: '(--merchant <merchant id> | --default)',
  summary: 'Show the fees of collections and transfers',
  run: describeFees,
};

const set: Command = {
  name: 'fees set',
  usage:
    '(--merchant <merchant id> | --default) [--for collection|transfer [--network <network>] [--percent <percent>] ' +
    '[--fixed <dalasi>] [--minimum <dalasi>] [--maximum <dalasi>]] [--payer business|customer]',
  summary: 'Set a fee rule, or who pays the fees of collections',
  details: '  A new rule replaces the previous one as a whole: a part that you leave out is 0.',
  async run(context, input) {
    const payer = readPayer(input);
    const rule = readRule(input, payer !== null);
    if (rule === null && payer === null) {
      throw new UsageError(
        'Give at least one change: --for with --percent, --fixed, --minimum or --maximum; or --payer.',
      );
    }
    await changeRules(context, input, async (tx, owner) => {
      if (payer !== null && owner === 'default') {
        throw new UsageError('Each merchant sets who pays its fees: use --payer with --merchant.');
      }
      const before = await findRules(tx, ownerOf(owner));
      if (rule !== null) await setFeeRule(tx, ownerOf(owner), rule);
      if (payer !== null && owner !== 'default') await setFeePayer(tx, owner.id, payer);
      auditCommand(tx, context, {
        ...{ ...aboutOwner(owner), action: auditActions[rule?.operation ?? 'collection'] },
        sent: { ...(rule && auditedRule(rule, feeValues(rule))), ...(payer && { payer }) },
        before: {
          ...(rule && feeValues(findFeeRule(before, rule.operation, rule.network)?.rule)),
          ...(owner !== 'default' && { payer: owner.collectionFee.payer }),
        },
      });
    });
    return describeFees(context, input);
  },
};

const clear: Command = {
  name: 'fees clear',
  usage: '(--merchant <merchant id> | --default) --for collection|transfer [--network <network>]',
  summary: 'Remove a fee rule',
  details: '  The default rule then applies to the merchant; without a default there is no fee.',
  async run(context, input) {
    const key = readRuleKey(input);
    await changeRules(context, input, async (tx, owner) => {
      const before = findFeeRule(await findRules(tx, ownerOf(owner)), key.operation, key.network)?.rule;
      if (!(await clearFeeRule(tx, ownerOf(owner), key))) {
        throw new UsageError(`This rule is not set. See: ${showCommand('fees', owner)}`);
      }
      auditCommand(tx, context, {
        ...{ ...aboutOwner(owner), action: auditActions[key.operation] },
        ...{ sent: auditedRule(key, cleared), before: feeValues(before) },
      });
    });
    return describeFees(context, input);
  },
};

export const feeCommands: readonly Command[] = [show, set, clear];

/** The actions of the console's two forms. */
const auditActions: Record<Operation, string> = { collection: 'fees.set', transfer: 'transfer-fees.set' };

function auditedRule({ network }: { network: string }, values: RuleValues): RuleValues {
  return network === allNetworks ? values : { network, ...values };
}

/** A rule is set as a whole: a part that is left out is 0. Null when only the payer is set. */
function readRule(input: CommandInput, hasPayer: boolean): StoredFeeRule | null {
  if (!partNames.some((name) => input.options[name] !== undefined)) {
    const isNamed = input.options['for'] !== undefined || input.options['network'] !== undefined;
    if (isNamed) readRuleKey(input);
    if (hasPayer || !isNamed) return null;
    throw new UsageError('Give the fee: --percent, --fixed, --minimum or --maximum. For no fee: --percent 0.');
  }
  const minimumMinor = readAmount(input, 'minimum') ?? noFee.minimumMinor;
  const maximumMinor = readAmount(input, 'maximum') ?? noFee.maximumMinor;
  if (maximumMinor !== null && maximumMinor < minimumMinor) {
    throw new UsageError('--maximum is less than --minimum. Raise --maximum or lower --minimum.');
  }
  const fixedMinor = readAmount(input, 'fixed') ?? noFee.fixedMinor;
  return { ...readRuleKey(input), percentHundredths: readPercent(input), fixedMinor, minimumMinor, maximumMinor };
}

function readRuleKey({ options }: CommandInput): { operation: Operation; network: string } {
  const operation = options['for'];
  if (operation !== 'collection' && operation !== 'transfer') {
    const problem =
      operation === undefined ? 'missing: collection or transfer' : `collection or transfer, not ${operation}`;
    throw new UsageError(`--for is ${problem}.`);
  }
  const network = options['network'] ?? allNetworks;
  if (operation === 'collection' && network !== allNetworks) {
    throw new UsageError('The fee of collections is the same on every network: omit --network.');
  }
  const known = [...knownNetworks.map(({ id }) => id), allNetworks];
  if (!known.includes(network)) throw new UsageError(`--network is one of ${known.join(', ')}, not ${network}.`);
  return { operation, network };
}

function readPercent({ options }: CommandInput): bigint {
  const text = options['percent'];
  if (text === undefined) return noFee.percentHundredths;
  const hundredths = parseHundredths(text);
  if (hundredths === undefined || hundredths > wholePercent) {
    throw new UsageError(`--percent is from 0 to 100 with at most two decimals, like 1.5, not ${text}.`);
  }
  return hundredths;
}

function readPayer({ options }: CommandInput): FeePayer | null {
  const { payer } = options;
  if (payer === undefined) return null;
  if (payer !== 'business' && payer !== 'customer') {
    throw new UsageError(`--payer is business or customer, not ${payer}.`);
  }
  if (options['for'] === 'transfer') {
    throw new UsageError('The fee of a transfer is always charged on top of it: --payer is for collection.');
  }
  return payer;
}

interface FeeLine {
  operation: Operation;
  network: string;
  found: { rule: FeeRule; source: RuleSource } | undefined;
}

/** The rules in force, read again after a change. */
async function describeFees(context: CommandContext, input: CommandInput): Promise<CommandResult> {
  const owner = await readOwner(context, input);
  const rules = await findRules(context.db, ownerOf(owner));
  const lines: FeeLine[] = [
    { operation: 'collection', network: allNetworks } as const,
    ...networksNamed(rules).map((network) => ({ operation: 'transfer', network }) as const),
    { operation: 'transfer', network: allNetworks } as const,
  ].map((line) => ({ ...line, found: findFeeRule(rules, line.operation, line.network) }));
  const payer = owner === 'default' ? null : owner.collectionFee.payer;
  const text = [
    ownerInWords(owner),
    ...(payer === null ? [] : [`The ${payer} pays the fees of collections.`]),
    table(['FOR', 'NETWORK', 'FEE', 'FROM'], lines.map(lineInWords)),
  ].join('\n');
  const data = {
    merchant_id: owner === 'default' ? null : owner.id,
    payer,
    fees: lines.map(lineData),
  };
  return { text, data, exitCode: 0 };
}

function lineInWords({ operation, network, found }: FeeLine): string[] {
  return [operation, network, feeInWords(found?.rule ?? noFee), sourceInWords(found?.source)];
}

function lineData({ operation, network, found }: FeeLine) {
  const rule = found?.rule ?? noFee;
  return {
    for: operation,
    network,
    percent: amountToJson(rule.percentHundredths),
    fixed: amountToJson(rule.fixedMinor),
    minimum: amountToJson(rule.minimumMinor),
    maximum: amountOrNull(rule.maximumMinor),
    source: found?.source ?? null,
  };
}
