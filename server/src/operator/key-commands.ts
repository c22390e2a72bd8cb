import { listTeam } from '../accounts/team.ts';
import { keyScopes } from '../api/key-scope.ts';
import { addMs, type Clock } from '../kit/clock.ts';
import { table, UsageError } from '../kit/command-line.ts';
import type { Transaction } from '../kit/db.ts';
import { durationMs } from '../kit/time-option.ts';
import { isTimeOrDay, lastMoment } from '../kit/time-or-day.ts';
import { maskedApiKey } from '../merchants/api-key.ts';
import { createApiKey, listKeys, rollApiKey, type CreatedKey, type ListedKey } from '../merchants/manage-keys.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { writeNewKey, writeRevokedKey, type KeyWriter } from '../portal/records/write-key.ts';
import { aboutMerchant, auditCommand } from './audit-command.ts';
import type { Command, CommandContext } from './command.ts';
import { merchantInWords, merchantOf } from './merchant-of.ts';
import { requireVerifiedPepper } from './verified-pepper.ts';

const create: Command = {
  name: 'keys create',
  usage: '--merchant <merchant id> [--name <name>] [--scopes <list>] [--expires <time>] [--addresses <list>]',
  summary: 'Create an API key; it is shown once',
  details: [
    `  --scopes     ${keyScopes.join(',')} or some of them; by default all`,
    '  --expires    90d, a day such as 2027-01-31 for its end (UTC), or a time; by default never',
    '  --addresses  from where it may be used: 192.0.2.7,2001:db8::/32; by default anywhere',
  ].join('\n'),
  async run(context, input) {
    const merchant = await merchantOf(context, input);
    const { name = 'Made by the operator', scopes, expires, addresses } = input.options;
    const newKey = {
      name,
      ...(scopes !== undefined && { scopes: listOf(scopes) }),
      ...(expires !== undefined && { expiresAt: readExpiry(context.clock, expires) }),
      ...(addresses !== undefined && { addresses: listOf(addresses) }),
    };
    await requireVerifiedPepper(context);
    const { text: key, record } = await storeKey(context, merchant, 'keys.create', (tx) =>
      createApiKey(tx, context.onboarding, merchant, newKey),
    );
    const text = `${key}\nKey ${record.id} of ${merchantInWords(merchant)}. It is not shown again.`;
    return { text, data: { id: record.id, secret_key: key }, exitCode: 0 };
  },
};

const list: Command = {
  name: 'keys list',
  usage: '--merchant <merchant id>',
  summary: 'List the API keys of a merchant',
  details: '  A live key with the scope payout is idle if nobody has used it for 90 days: revoke it.',
  async run(context, input) {
    const merchant = await merchantOf(context, input);
    const { testMode } = merchant;
    const keys = await listKeys(context.db, context.clock, merchant);
    const rows = keys.map((key) => [
      key.id,
      maskedApiKey({ testMode, lastFour: key.lastFour }),
      stateInWords(key),
      key.scopes.join(','),
      key.lastUse === null ? 'never' : toTheMinute(key.lastUse.usedAt),
      key.name,
    ]);
    const headings = ['KEY', 'SECRET', 'STATE', 'SCOPES', 'LAST USED', 'NAME'];
    return { text: table(headings, rows), data: keys.map(keyToData), exitCode: 0 };
  },
};

const roll: Command = {
  name: 'keys roll',
  usage: '<key id> --merchant <merchant id> [--overlap <duration>]',
  summary: 'Replace an API key by one with the same rights',
  details: '  --overlap  how long the old key goes on working: 0s to 7d; by default 1d',
  async run(context, input) {
    const merchant = await merchantOf(context, input);
    const [id = ''] = input.positionals;
    const overlapMs = readOverlap(input.options['overlap']);
    await requireVerifiedPepper(context);
    const {
      text: key,
      record,
      previous,
    } = await storeKey(context, merchant, 'keys.roll', (tx) =>
      rollApiKey(tx, context.onboarding, merchant, { id, overlapMs }),
    );
    const endsAt = previous.expiresAt.toISOString();
    const text = `${key}\nKey ${record.id} of ${merchantInWords(merchant)}. It is not shown again. The old key ends at ${endsAt}.`;
    const data = { id: record.id, secret_key: key, previous: { id, expires_at: endsAt } };
    return { text, data, exitCode: 0 };
  },
};

const revoke: Command = {
  name: 'keys revoke',
  usage: '<key id> --merchant <merchant id>',
  summary: 'Revoke an API key; every process refuses it within 5 s',
  async run(context, input) {
    const merchant = await merchantOf(context, input);
    const [id = ''] = input.positionals;
    await writeRevokedKey(writerOf(context, merchant), context.clock, id);
    return { text: `Key ${id} is revoked.`, data: { id, revoked: true }, exitCode: 0 };
  },
};

export const keyCommands: readonly Command[] = [create, list, roll, revoke];

/** Makes a key with its audit entry and a mail to the owners, as the console does. */
async function storeKey<Created extends CreatedKey>(
  context: CommandContext,
  merchant: Merchant,
  action: 'keys.create' | 'keys.roll',
  make: (tx: Transaction) => Promise<Created>,
): Promise<Created> {
  const hasOwners = (await listTeam(context.db, merchant.businessId)).some(({ role }) => role === 'owner');
  if (hasOwners) await context.onboarding.sealer.prepare();
  return writeNewKey(writerOf(context, merchant), action, make);
}

function writerOf(context: CommandContext, merchant: Merchant): KeyWriter {
  return {
    ...{ db: context.db, merchant, accounts: context, who: 'The operator of the service' },
    audit: (tx, act) => auditCommand(tx, context, { ...aboutMerchant(merchant), ...act }),
  };
}

function listOf(text: string): string[] {
  return text.split(',').map((item) => item.trim());
}

function readExpiry(clock: Clock, text: string): Date {
  const lifetimeMs = durationMs(text);
  if (lifetimeMs !== null) return addMs(clock.now(), lifetimeMs);
  if (isTimeOrDay(text)) return lastMoment(text);
  throw new UsageError('--expires is 90d, a day such as 2027-01-31, or a time such as 2027-01-31T18:00:00Z.');
}

function readOverlap(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const overlapMs = durationMs(text);
  if (overlapMs === null) throw new UsageError('--overlap is a duration such as 0s, 15m, 2h or 3d.');
  return overlapMs;
}

function stateInWords({ state, expiresAt, revokedAt }: ListedKey): string {
  if (state === 'revoked' && revokedAt !== null) return `revoked ${toTheMinute(revokedAt)}`;
  if (state !== 'active' && state !== 'idle' && expiresAt !== null) return `${state} ${toTheMinute(expiresAt)}`;
  return state;
}

function toTheMinute(time: Date): string {
  return time.toISOString().slice(0, '2026-11-20T10:18'.length);
}

function keyToData(key: ListedKey): object {
  return {
    id: key.id,
    last_four: key.lastFour,
    name: key.name,
    state: key.state,
    scopes: key.scopes,
    addresses: key.addresses,
    createdAt: key.createdAt,
    expires_at: key.expiresAt,
    revokedAt: key.revokedAt,
    rolled_to: key.rolledTo,
    last_used_at: key.lastUse?.usedAt ?? null,
    last_used_address: key.lastUse?.address ?? null,
  };
}
