import type { Clock } from '../kit/clock.ts';
import { dalasi } from '../kit/money.ts';
import { SealError, type Sealer } from '../kit/seal.ts';
import type { AccountConnection } from '../networks/connector-kind.ts';
import { findConnectorKind } from '../networks/connector-kinds.ts';
import { baseUrlProblem } from './base-url.ts';
import { openCredentials } from './credentials.ts';
import { amountsSetting, type RailAccount, type SealedCredentials } from './rail-account.ts';

export interface ConnectContext {
  clock: Clock;
  sealer: Sealer;
  /** A development server calls loopback addresses only. */
  production: boolean;
}

/** An account with its versions of credentials, the newest first. */
export interface StoredAccount {
  account: RailAccount;
  credentials: readonly SealedCredentials[];
}

/** Connects a stored account, or says in a sentence why this process cannot. */
export function connectAccount(
  { clock, sealer, production }: ConnectContext,
  { account, credentials }: StoredAccount,
): AccountConnection | { problem: string } {
  const kind = findConnectorKind(account.kind);
  if (!kind) return { problem: `This version of the service does not speak ${account.kind}.` };
  const addressProblem = account.baseUrl === null ? null : baseUrlProblem(account.baseUrl, { production });
  if (addressProblem !== null) return { problem: addressProblem };
  try {
    kind.networksOf(account.settings);
    return kind.connect({
      railAccount: account.name,
      testMode: account.testMode,
      merchantId: account.merchantId,
      baseUrl: account.baseUrl ?? '',
      settings: account.settings,
      amountStepMinor: stepOf(account),
      credentials: openCredentials(sealer, credentials),
      clock,
    });
  } catch (error) {
    if (error instanceof SealError) {
      return { problem: 'Its credentials cannot be opened with the SEAL_KEY of this process. See: secrets show' };
    }
    return { problem: (error as Error).message };
  }
}

function stepOf({ settings }: RailAccount): bigint | null {
  const rule = settings[amountsSetting];
  if (rule === undefined) return null;
  return rule === 'bututs' ? 1n : dalasi;
}
