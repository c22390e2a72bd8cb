import { table, UsageError, type CommandInput } from '../kit/command-line.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import { getBusiness } from '../merchants/business-status.ts';
import type { ConnectorKind } from '../networks/connector-kind.ts';
import { phoneProblems, readPhoneStatuses, type PhoneStatus } from '../receipts/phones.ts';
import { connectorKinds, findConnectorKind } from '../networks/connector-kinds.ts';
import { callbackPath, messagePath } from '../networks/registry.ts';
import type { OperatorAct } from '../audit/operator-act.ts';
import { accountAct, addAct, orderAct, rotateAct } from '../rail-accounts/account-acts.ts';
import { fieldsOf, type TypedFields } from '../rail-accounts/account-fields.ts';
import {
  addRailAccount,
  checkRailAccount,
  defaultOverlapHours,
  disableRailAccount,
  enableRailAccount,
  getRailAccount,
  listRailAccounts,
  lockAccount,
  networksOfAccount,
  orderRailAccount,
  rotateRailAccount,
  type RailAccountContext,
} from '../rail-accounts/manage-accounts.ts';
import type { RailAccount } from '../rail-accounts/rail-account.ts';
import { auditCommand } from './audit-command.ts';
import type { Command, CommandContext, CommandResult } from './command.ts';
import { readFileOption, readSecretOption } from './secret-option.ts';

const fieldNames = new Set(connectorKinds.flatMap((kind) => fieldsOf(kind).map(({ name }) => name)));
const fieldOptions = [...fieldNames].map((name) => `[--${name} <${name}>]`).join(' ');

const valueNames: Readonly<Record<string, string>> = { 'look-ups-per-second': 'number' };

const details = [
  '  A secret is given as itself, as @<file>, or as - for standard input. Nothing shows it again.',
  ...connectorKinds.map((kind) => {
    const options = fieldsOf(kind).map(({ name, type, choices, isRequired }) => {
      const value = choices?.join('|') ?? valueNames[name] ?? (type === 'json' ? 'file' : name);
      const option = `--${name} <${value}>`;
      return isRequired ? option : `[${option}]`;
    });
    return `  ${kind.name}: ${options.join(' ')}`;
  }),
].join('\n');

const add: Command = {
  name: 'networks add',
  usage: `<${connectorKinds.map(({ name }) => name).join('|')}> --name <name> [--environment live|test] [--business <business id>] [--base-url <url>] [--order <number>] [options of the kind]`,
  summary: 'Connect an account at a network or an aggregator',
  details,
  moreOptions: fieldOptions,
  async run(context, input) {
    const { options } = input;
    const kind = readKind(input.positionals[0] ?? '');
    const businessId = options['business'] ?? null;
    if (businessId !== null) await requireBusiness(context.db, businessId);
    const request = {
      ...{ kind: kind.name, name: options['name'] ?? '', testMode: readTestMode(options['environment']), businessId },
      ...{ baseUrl: options['base-url'] ?? null, position: readOrder(options['order']) },
      fields: await readFieldOptions(context, kind, input),
    };
    return changed(
      context,
      request.name,
      async (tx, work) => addAct(kind, await addRailAccount(tx, work, request), request.fields),
      async (account) => [
        `${account.name} is connected for ${await ownerInWords(context.db, account)}: ${networksOfAccount(account).join(', ')}.`,
        reportLine(context.publicUrl(), kind, account.name),
        `Try it with: networks test ${account.name}`,
      ],
    );
  },
};

/** Where the network's callbacks, or the phone's messages, have to go. */
function reportLine(publicUrl: string, { source }: ConnectorKind, name: string): string {
  return source === 'receipts'
    ? `  Messages URL  ${publicUrl}${messagePath(name)}`
    : `  Callback URL  ${publicUrl}${callbackPath(name)}`;
}

const list: Command = {
  name: 'networks list',
  usage: '[<name>]',
  summary: 'List the connected accounts, without their secrets',
  async run({ db, clock, publicUrl }, { positionals: [name] }) {
    const accounts = name === undefined ? await listRailAccounts(db) : [await getRailAccount(db, name)];
    const owners = await Promise.all(accounts.map((account) => ownerInWords(db, account)));
    const statuses = await readPhoneStatuses(db, accounts, clock.now());
    const phones = new Map(statuses.map((status) => [status.railAccount, status]));
    const rows = accounts.map((account, index) => [
      account.name,
      account.kind,
      account.testMode ? 'test' : 'live',
      networksOfAccount(account).join(', '),
      owners[index] ?? '',
      account.position === null ? '' : String(account.position),
      account.disabledAt === null ? 'on' : 'disabled',
      account.baseUrl ?? '',
      phones.get(account.name)?.phone?.messageAt?.toISOString() ?? '',
    ]);
    const headings = ['NAME', 'KIND', 'ENVIRONMENT', 'NETWORKS', 'FOR', 'ORDER', 'STATE', 'BASE URL', 'LAST MESSAGE'];
    const data = accounts.map((account) => ({
      ...accountData(account),
      callback_url: `${publicUrl()}${callbackPath(account.name)}`,
      ...phoneData(phones.get(account.name)),
    }));
    const problems = statuses.flatMap((status) =>
      phoneProblems(status).map(
        ({ since, reason }) => `${status.railAccount}: ${reason} Since ${since.toISOString()}.`,
      ),
    );
    const text = rows.length === 0 ? 'Nothing is connected.' : [table(headings, rows), ...problems].join('\n');
    return { text, data, exitCode: 0 };
  },
};

function phoneData(status: PhoneStatus | undefined) {
  if (!status) return {};
  const { phone, gaps } = status;
  return {
    last_message_at: phone?.messageAt ?? null,
    last_seen_at: phone?.seenAt ?? null,
    missing_messages: Number(gaps),
    needs_attention: phoneProblems(status).map(({ reason }) => reason),
  };
}

const test: Command = {
  name: 'networks test',
  usage: '<name>',
  summary: 'Make a call that moves nothing, and say what is wrong',
  async run({ railAccountWork }, { positionals }) {
    const [name = ''] = positionals;
    const { works, text } = await checkRailAccount(await railAccountWork(), name);
    return { text: `${name}: ${text}`, data: { name, works, message: text }, exitCode: works ? 0 : 1 };
  },
};

const rotate: Command = {
  name: 'networks rotate',
  usage: '<name> [--overlap-hours <hours>] [--base-url <url>] [options of the kind]',
  summary: 'Replace an account’s secrets, address or settings',
  details: `  Calls use the new values at once. The old secrets verify callbacks for ${defaultOverlapHours} hours, or for --overlap-hours.\n${details}`,
  moreOptions: fieldOptions,
  async run(context, input) {
    const [name = ''] = input.positionals;
    const kind = readKind((await getRailAccount(context.db, name)).kind);
    const rotation = {
      baseUrl: input.options['base-url'] ?? null,
      overlapMs: readHours(input.options['overlap-hours']) * 3_600_000,
      fields: await readFieldOptions(context, kind, input),
    };
    return changed(
      context,
      name,
      async (tx, work) => {
        const before = await lockAccount(tx, name);
        await rotateRailAccount(tx, work, name, rotation);
        return rotateAct(kind, before, rotation);
      },
      async () => [`${name} uses the new values. Try it with: networks test ${name}`],
    );
  },
};

const disable: Command = {
  name: 'networks disable',
  usage: '<name>',
  summary: 'Let an account take nothing new',
  details: '  What it has begun is still looked up, and its callbacks are read.',
  run: (context, { positionals: [name = ''] }) =>
    changed(
      context,
      name,
      async (tx, work) => accountAct('networks.disable', await disableRailAccount(tx, work, name)),
      async () => [
        `${name} takes no new payments or transfers; what it has begun is finished. Undo: networks enable ${name}`,
      ],
    ),
};

const enable: Command = {
  name: 'networks enable',
  usage: '<name>',
  summary: 'Undo networks disable',
  run: (context, { positionals: [name = ''] }) =>
    changed(
      context,
      name,
      async (tx, work) => accountAct('networks.enable', await enableRailAccount(tx, work, name)),
      async () => [`${name} takes payments again.`],
    ),
};

const order: Command = {
  name: 'networks order',
  usage: '<name> (--order <number> | --default)',
  summary: 'Put an account before or after others of its networks',
  details:
    '  The lowest number goes first. By default: 10 a business’s own API, 20 the operator’s API, 30 a business’s own receipts.',
  async run(context, { positionals: [name = ''], options, flags }) {
    const position = readOrder(options['order']);
    if ((position === null) !== flags.has('default')) throw new UsageError('Give either --order or --default.');
    return changed(
      context,
      name,
      async (tx, work) => orderAct(await orderRailAccount(tx, work, name, position), position),
      async () => [position === null ? `${name} has its default place.` : `${name} has the place ${position}.`],
    );
  },
};

export const networkCommands: readonly Command[] = [add, list, test, rotate, disable, enable, order];

/** Runs a change in a transaction with the audit entry that it returns, and shows the account as it is stored then. */
async function changed(
  context: CommandContext,
  name: string,
  run: (tx: Transaction, work: RailAccountContext) => Promise<OperatorAct>,
  sentences: (account: RailAccount) => Promise<readonly string[]>,
): Promise<CommandResult> {
  const work = await context.railAccountWork();
  await work.sealer.prepare();
  await work.db.withTransaction(async (tx) => auditCommand(tx, context, await run(tx, work)));
  const account = await getRailAccount(work.db, name);
  return { text: (await sentences(account)).join('\n'), data: accountData(account), exitCode: 0 };
}

function accountData(account: RailAccount) {
  return {
    name: account.name,
    kind: account.kind,
    environment: account.testMode ? 'test' : 'live',
    business_id: account.businessId,
    networks: networksOfAccount(account),
    base_url: account.baseUrl,
    settings: account.settings,
    order: account.position === null ? null : Number(account.position),
    disabled_at: account.disabledAt,
    created_at: account.createdAt,
    updated_at: account.updatedAt,
  };
}

async function ownerInWords(db: Queryable, { businessId, testMode }: RailAccount): Promise<string> {
  const environment = testMode ? 'test' : 'live';
  return businessId === null
    ? `every ${environment} business`
    : `${(await getBusiness(db, businessId)).name} (${environment})`;
}

async function requireBusiness(db: Queryable, id: string): Promise<void> {
  if (!isUuid(id)) throw new UsageError(`There is no business ${id}. See: businesses list`);
  await getBusiness(db, id);
}

function readKind(name: string): ConnectorKind {
  const kind = findConnectorKind(name);
  if (kind) return kind;
  throw new UsageError(`An account speaks one of ${connectorKinds.map((each) => each.name).join(', ')}, not ${name}.`);
}

/** The options that are fields of the kind, with files and standard input read. */
async function readFieldOptions(
  context: CommandContext,
  kind: ConnectorKind,
  { options }: CommandInput,
): Promise<TypedFields> {
  const fields = fieldsOf(kind);
  const read: Record<string, string> = {};
  let hasReadInput = false;
  for (const name of fieldNames) {
    const value = options[name];
    if (value === undefined) continue;
    const field = fields.find((each) => each.name === name);
    if (!field) throw new UsageError(`An account of ${kind.name} has no --${name}. See: networks add --help`);
    if (value === '-' && hasReadInput) throw new UsageError('Only one option can be read from standard input.');
    hasReadInput ||= value === '-';
    if (field.type === 'text') read[name] = value;
    else read[name] = await (field.type === 'json' ? readFileOption : readSecretOption)(context, value);
  }
  return read;
}

function readTestMode(environment = 'live'): boolean {
  if (environment === 'live' || environment === 'test') return environment === 'test';
  throw new UsageError(`--environment is live or test, not ${environment}.`);
}

function readOrder(text: string | undefined): bigint | null {
  if (text === undefined) return null;
  if (/^\d{1,4}$/.test(text)) return BigInt(text);
  throw new UsageError(`--order is a number from 1 to 1000, not ${text}.`);
}

const overlapHoursMax = 31 * 24;

function readHours(text = String(defaultOverlapHours)): number {
  if (/^\d{1,3}$/.test(text) && Number(text) <= overlapHoursMax) return Number(text);
  throw new UsageError(`--overlap-hours is a number from 0 to ${overlapHoursMax}, not ${text}.`);
}
