import { AppError, fieldError } from '../api/app-error.ts';
import { addMs } from '../kit/clock.ts';
import type { Database, Queryable, Transaction } from '../kit/db.ts';
import { openOrNull } from '../kit/seal.ts';
import type { JsonObject } from '../kit/strict-json.ts';
import type { AccountCheck, ConnectorKind } from '../networks/connector-kind.ts';
import { connectorKinds, findConnectorKind } from '../networks/connector-kinds.ts';
import { checkFields, readFields, type TypedFields } from './account-fields.ts';
import { baseUrlProblem } from './base-url.ts';
import { connectAccount, type ConnectContext } from './connect-account.ts';
import { openSecrets, sealSecrets } from './credentials.ts';
import {
  deleteEndedCredentials,
  endCredentials,
  findRailAccount,
  insertCredentials,
  insertRailAccountOnce,
  listCredentialsOf,
  lockRailAccount,
  updateRailAccount,
} from './queries.ts';
import type { RailAccount, Secrets } from './rail-account.ts';

export { listRailAccounts } from './queries.ts';

export interface RailAccountContext extends ConnectContext {
  db: Database;
  /** Tells every process that an account has changed. */
  notifyChanged: () => void;
}

export interface NewRailAccount {
  kind: string;
  name: string;
  testMode: boolean;
  businessId: string | null;
  baseUrl: string | null;
  position: bigint | null;
  fields: TypedFields;
}

/** A network's callbacks may be hours late, and a network may sign with the old secret until its own rotation is done. */
export const defaultOverlapHours = 24;

/** Throws AppError that names the field. */
export async function addRailAccount(
  tx: Transaction,
  context: RailAccountContext,
  request: NewRailAccount,
): Promise<RailAccount> {
  const { clock, sealer } = context;
  const kind = readKind(request.kind);
  const name = readName(request.name);
  if (kind.needsBusiness && request.businessId === null) {
    throw fieldError('invalid_request', 'business', `An account of ${kind.name} belongs to a business (--business).`);
  }
  const { settings, secrets } = readFields(kind, request.fields);
  checkFields(kind, { settings, secrets });
  const now = clock.now();
  const account = {
    ...{ name, kind: kind.name, settings, disabledAt: null, version: 1n, createdAt: now, updatedAt: now },
    testMode: request.testMode,
    businessId: request.businessId,
    baseUrl: readBaseUrl(context, kind, request.baseUrl),
    position: checkPosition(request.position),
  };
  if ((await insertRailAccountOnce(tx, account)) === 0) {
    throw fieldError('invalid_request', 'name', `The name ${name} is used. Names are never used again.`);
  }
  const first = { railAccount: name, version: 1n };
  tx.send(
    insertCredentials({ ...first, sealed: sealSecrets(sealer, first, secrets), createdAt: now, validUntil: null }),
  );
  tx.afterCommit(context.notifyChanged);
  return getRailAccount(tx, name);
}

export interface Rotation {
  /** Null stays as it is. */
  baseUrl: string | null;
  /** What is left out stays as it is. */
  fields: TypedFields;
  /** How long the old secrets still verify callbacks. */
  overlapMs: number;
}

/**
 * Replaces secrets, address or settings. Calls use the new ones at once; the old secrets verify callbacks until the overlap
 * ends. Throws AppError `not_found`, and AppErrors that name the field.
 */
export async function rotateRailAccount(
  tx: Transaction,
  context: RailAccountContext,
  name: string,
  rotation: Rotation,
): Promise<RailAccount> {
  const account = await lockAccount(tx, name);
  const kind = readKind(account.kind);
  const { settings, secrets } = readFields(kind, rotation.fields);
  const hasSecrets = Object.keys(secrets).length > 0;
  if (!hasSecrets && Object.keys(settings).length === 0 && rotation.baseUrl === null) {
    throw new AppError('invalid_request', 'Give at least one value that replaces another one.');
  }
  const versions = await listCredentialsOf(tx, name);
  const newest = versions[0];
  // Where the SEAL_KEY behind them is lost, all that the kind requires has to be given again.
  const before = newest && openOrNull(() => openSecrets(context.sealer, newest));
  const changed = { settings: { ...account.settings, ...settings }, secrets: { ...before, ...secrets } };
  refuseLostNetworks(kind.networksOf(account.settings), checkFields(kind, changed));
  refuseLostOperations(kind, account.settings, changed.settings);
  if (hasSecrets) addVersion(tx, context, { name, version: (newest?.version ?? 0n) + 1n }, changed.secrets, rotation);
  const baseUrl = rotation.baseUrl === null ? account.baseUrl : readBaseUrl(context, kind, rotation.baseUrl);
  return change(tx, context, { ...account, settings: changed.settings, baseUrl });
}

function addVersion(
  tx: Transaction,
  { clock, sealer }: RailAccountContext,
  { name, version }: { name: string; version: bigint },
  secrets: Secrets,
  { overlapMs }: Rotation,
): void {
  const createdAt = clock.now();
  const next = { railAccount: name, version };
  tx.send(endCredentials(name, addMs(createdAt, overlapMs)));
  tx.send(deleteEndedCredentials(name, createdAt));
  tx.send(insertCredentials({ ...next, sealed: sealSecrets(sealer, next, secrets), createdAt, validUntil: null }));
}

/** It takes nothing new; what it has begun is looked up, and its callbacks are read. Throws AppError. */
export async function disableRailAccount(
  tx: Transaction,
  context: RailAccountContext,
  name: string,
): Promise<RailAccount> {
  const account = await lockAccount(tx, name);
  if (account.disabledAt !== null) throw new AppError('state_conflict', `${name} is disabled already.`);
  return change(tx, context, { ...account, disabledAt: context.clock.now() });
}

/** Throws AppError. */
export async function enableRailAccount(
  tx: Transaction,
  context: RailAccountContext,
  name: string,
): Promise<RailAccount> {
  const account = await lockAccount(tx, name);
  if (account.disabledAt === null) throw new AppError('state_conflict', `${name} is not disabled.`);
  return change(tx, context, { ...account, disabledAt: null });
}

/**
 * Its place among the accounts of its networks; null is the default of its kind and owner. Returns the account as it was before. Throws
 * AppError.
 */
export async function orderRailAccount(
  tx: Transaction,
  context: RailAccountContext,
  name: string,
  position: bigint | null,
): Promise<RailAccount> {
  const account = await lockAccount(tx, name);
  change(tx, context, { ...account, position: checkPosition(position) });
  return account;
}

/** Makes a call that moves nothing, with the stored address and credentials. Throws AppError `not_found`. */
export async function checkRailAccount(context: RailAccountContext, name: string): Promise<AccountCheck> {
  const account = await getRailAccount(context.db, name);
  const connection = connectAccount(context, { account, credentials: await listCredentialsOf(context.db, name) });
  if ('problem' in connection) return { works: false, text: connection.problem };
  try {
    return await connection.check();
  } finally {
    await connection.close();
  }
}

/** Empty where this version of the service cannot read its settings. */
export function networksOfAccount({ kind, settings }: RailAccount): readonly string[] {
  try {
    return findConnectorKind(kind)?.networksOf(settings) ?? [];
  } catch {
    return [];
  }
}

/** Throws AppError `not_found`. */
export async function getRailAccount(db: Queryable, name: string): Promise<RailAccount> {
  return found(await findRailAccount(db, name), name);
}

/** As it is until the transaction ends, for whoever records what a change replaces. Throws AppError `not_found`. */
export async function lockAccount(tx: Transaction, name: string): Promise<RailAccount> {
  return found(await lockRailAccount(tx, name), name);
}

function found(account: RailAccount | undefined, name: string): RailAccount {
  if (account) return account;
  throw new AppError('not_found', `There is no rail account ${name}. See: networks list`);
}

function change(tx: Transaction, context: RailAccountContext, account: RailAccount): RailAccount {
  const changed = { ...account, updatedAt: context.clock.now() };
  tx.send(updateRailAccount(changed));
  tx.afterCommit(context.notifyChanged);
  return changed;
}

function readKind(name: string): ConnectorKind {
  const kind = findConnectorKind(name);
  if (kind) return kind;
  const choices = connectorKinds.map((each) => each.name).join(', ');
  throw fieldError('invalid_request', 'kind', `A rail account speaks one of ${choices}, not ${name}.`);
}

const nameForm = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;

/** The accounts at simulated networks have such names. */
export function isSimulatedName(name: string): boolean {
  return name.endsWith('-test');
}

function readName(text: string): string {
  if (!nameForm.test(text)) {
    throw fieldError('invalid_request', 'name', 'A name has up to 40 small letters, digits and hyphens: wave-main.');
  }
  if (!isSimulatedName(text)) return text;
  throw fieldError('invalid_request', 'name', 'Names that end in -test belong to the simulated networks.');
}

function readBaseUrl({ production }: ConnectContext, { hasBaseUrl }: ConnectorKind, text: string | null) {
  if (!hasBaseUrl) {
    if (text === null) return null;
    throw fieldError('invalid_request', 'base-url', 'This kind of account calls no address: leave out --base-url.');
  }
  if (text === null) throw fieldError('invalid_request', 'base-url', 'The base URL is missing (--base-url).');
  const problem = baseUrlProblem(text, { production });
  if (problem !== null) throw fieldError('invalid_request', 'base-url', problem);
  return text.replace(/\/+$/, '');
}

const positionMax = 1_000n;

function checkPosition(position: bigint | null): bigint | null {
  if (position === null || (position >= 1n && position <= positionMax)) return position;
  throw fieldError('invalid_request', 'order', `An order is a number from 1 to ${positionMax}.`);
}

/** What the account has begun at a network has to be finished there. */
function refuseLostNetworks(before: readonly string[], after: readonly string[]): void {
  const lost = before.filter((network) => !after.includes(network));
  if (lost.length === 0) return;
  const message = `The account has to finish what it began on ${lost.join(', ')}. Disable it and add another one instead.`;
  throw fieldError('invalid_request', 'config', message);
}

/** Without them nothing that is under way could be looked up any more. A file that replaces another has to repeat them. */
function refuseLostOperations(kind: ConnectorKind, before: JsonObject, after: JsonObject): void {
  const left = kind.operationsOf?.(after) ?? [];
  const lost = (kind.operationsOf?.(before) ?? []).filter((operation) => !left.includes(operation));
  if (lost.length === 0) return;
  const message =
    `The account has to finish its ${lost.join(', ')}, which the new settings leave out. Repeat them, or disable the ` +
    'account and add another one instead.';
  throw fieldError('invalid_request', 'config', message);
}
