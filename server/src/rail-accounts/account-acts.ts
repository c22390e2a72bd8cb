import type { OperatorAct } from '../audit/operator-act.ts';
import type { ConnectorKind } from '../networks/connector-kind.ts';
import { fieldsOf, type TypedFields } from './account-fields.ts';
import type { RailAccount } from './rail-account.ts';

type Named = Pick<RailAccount, 'name' | 'businessId' | 'testMode' | 'baseUrl' | 'position'>;

/** What the audit entry of a change to an account says, in the console and at the command line alike. */
export function accountAct(
  action: 'networks.add' | 'networks.rotate' | 'networks.disable' | 'networks.enable' | 'networks.order',
  { name, businessId, testMode }: Named,
  changes: Pick<OperatorAct, 'sent' | 'before'> = {},
): OperatorAct {
  return {
    ...{ action, testMode, object: { type: 'rail_account', id: name }, ...changes },
    ...(businessId !== null && { businessId }),
  };
}

export function addAct(kind: ConnectorKind, account: Named, fields: TypedFields): OperatorAct {
  const { name, baseUrl } = account;
  const sent = { kind: kind.name, name, base_url: baseUrl, ...auditedFields(kind, fields) };
  return accountAct('networks.add', account, { sent });
}

export function rotateAct(
  kind: ConnectorKind,
  account: Named,
  { fields, baseUrl, overlapMs }: { fields: TypedFields; baseUrl: string | null; overlapMs: number },
): OperatorAct {
  const typed = { ...auditedFields(kind, fields), ...(baseUrl !== null && { base_url: baseUrl }) };
  return accountAct('networks.rotate', account, {
    sent: { ...typed, overlap_hours: String(overlapMs / 3_600_000) },
    before: { base_url: account.baseUrl },
  });
}

export function orderAct(account: Named, position: bigint | null): OperatorAct {
  const inWords = (slot: bigint | null): string => slot?.toString() ?? 'default';
  return accountAct('networks.order', account, {
    sent: { order: inWords(position) },
    before: { order: inWords(account.position) },
  });
}

/** What an audit entry says of typed fields: values of settings, and of secrets only that they were set. */
function auditedFields(kind: ConnectorKind, typed: TypedFields): Record<string, string> {
  const filled = fieldsOf(kind).filter(({ name }) => (typed[name]?.trim() ?? '') !== '');
  const secrets = filled.filter(({ type }) => type === 'secret').map(({ label }) => label);
  return {
    ...Object.fromEntries(filled.flatMap(({ name, type }) => (type === 'secret' ? [] : [[name, typed[name] ?? '']]))),
    ...(secrets.length > 0 && { replaced: secrets.join(', ') }),
  };
}
