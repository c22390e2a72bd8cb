import { maskedChanges } from '../audit/masked-fields.ts';
import { installationId, type AuditEntry } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { clientNetwork } from '../kit/client-address.ts';
import type { Clock } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { LocalAllowances } from '../kit/local-allowance.ts';
import type { Account, Realm } from './account.ts';
import type { AccountContext } from './context.ts';
import type { Client } from './sessions.ts';
import { listMemberships } from './queries/team.ts';

/** Something about a login: a sign-in, a second factor, a new password. */
export interface LoginAct {
  action: 'login.sign_in' | 'login.second_factor' | 'login.change_password';
  result: AuditEntry['result'];
  account: Account;
  client: Client;
  sessionId: string | null;
  /** How, such as `password`. */
  sent?: Readonly<Record<string, string>>;
}

/** Writes it in the log of each business that the person works for; that of operators in the installation's. */
export async function recordLogin(
  tx: Transaction,
  context: Pick<AccountContext, 'clock' | 'newId'>,
  { action, result, account, client, sessionId, sent = {} }: LoginAct,
): Promise<void> {
  const memberships = await listMemberships(tx, account.id);
  const businessIds = memberships.length === 0 ? [installationId] : memberships.map(({ businessId }) => businessId);
  for (const businessId of businessIds) {
    recordAudit(tx, context, {
      ...{ businessId, testMode: null, actorType: actorOf(account.realm), actorId: account.id },
      ...{ actorName: account.name, action, result, objectType: 'login', objectId: account.id },
      ...{ changes: maskedChanges(sent), sessionId, requestId: client.requestId, address: client.address },
    });
  }
}

// Whoever tries addresses without a login fills no disk: of each network one a minute is written, after five at once.
const unknownLimit = { rate: 1 / 60, burst: 5 };
const unknownAllowances = new WeakMap<Clock, LocalAllowances>();

/** Writes in the installation's log that somebody has tried an address or a passkey that no login here has. */
export function recordUnknownLogin(
  tx: Transaction,
  context: Pick<AccountContext, 'clock' | 'newId'>,
  { realm, client, sent }: { realm: Realm; client: Client; sent: Readonly<Record<string, string>> },
): void {
  const allowances = unknownAllowances.get(context.clock) ?? new LocalAllowances(context.clock, unknownLimit);
  unknownAllowances.set(context.clock, allowances);
  if ('retryAfterSeconds' in allowances.take(clientNetwork(client.address))) return;
  recordAudit(tx, context, {
    ...{ businessId: installationId, testMode: null, actorType: actorOf(realm), actorId: null, actorName: 'unknown' },
    ...{ action: 'login.sign_in', result: 'refused', objectType: 'login', objectId: null },
    ...{ changes: maskedChanges(sent), sessionId: null, requestId: client.requestId, address: client.address },
  });
}

function actorOf(realm: Realm): AuditEntry['actorType'] {
  return realm === 'operator' ? 'operator' : 'member';
}
