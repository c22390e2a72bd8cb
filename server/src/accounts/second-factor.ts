import { AppError, fieldError } from '../api/app-error.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { openOrNull } from '../kit/seal.ts';
import type { Account } from './account.ts';
import type { AccountContext } from './context.ts';
import { createRecoveryCode, hashOfRecoveryCode, recoveryCodesCount } from './one-time-text.ts';
import { verifyPasskey } from './passkeys.ts';
import {
  acceptTotpStep,
  confirmTotp,
  consumeRecoveryCode,
  countRecoveryCodes,
  deleteRecoveryCodes,
  insertRecoveryCode,
  listPasskeys,
  lockAccount,
  removeTotp,
  setTotpSecret,
} from './queries.ts';
import { codeThrottle, countAttempt, forgetAttempts } from './throttle.ts';
import { createTotpSecret, totpSealContext, totpSetup, totpStepOf } from './totp.ts';

export { countRecoveryCodes, listPasskeys };

/** What a form of the second factor was sent with: a code of an app or of the recovery codes, or a passkey's answer as JSON. */
export interface FactorInput {
  code: string;
  passkey: string;
}

/** Whether the login asks for a second factor. */
export async function hasSecondFactor(db: Queryable, account: Account): Promise<boolean> {
  return account.totpConfirmedAt !== null || (await listPasskeys(db, account.id)).length > 0;
}

/**
 * Checks a second factor: each code and each answer of a passkey counts once, however often and wherever it is sent.
 * Throws AppError `rate_limited` after five wrong ones, and `invalid_request` that names `second_factor`.
 */
export async function checkSecondFactor(context: AccountContext, account: Account, input: FactorInput): Promise<void> {
  const key = `factor ${account.id}`;
  await countAttempt(context, codeThrottle, key);
  if (!(await isSecondFactor(context, account, input))) {
    throw fieldError(
      'invalid_request',
      'second_factor',
      'This code is not right, or was used already. Wait for the next one.',
    );
  }
  await forgetAttempts(context, key);
}

async function isSecondFactor(context: AccountContext, account: Account, input: FactorInput): Promise<boolean> {
  if (input.passkey !== '') return (await verifyPasskey(context, input.passkey))?.accountId === account.id;
  const { db, clock, pepper } = context;
  const step = totpStepOf(totpSecretOf(context, account), input.code, clock.now());
  if (step !== null && account.totpConfirmedAt !== null) return (await acceptTotpStep(db, account.id, step)) === 1;
  return (await consumeRecoveryCode(db, account.id, hashOfRecoveryCode(pepper, account.id, input.code))) === 1;
}

// Without a secret every code is compared with one of nobody, and is wrong.
function totpSecretOf(context: AccountContext, account: Account): Uint8Array {
  return readableSecret(context, account) ?? createTotpSecret(context.random);
}

/** Null also where the SEAL_KEY behind it is lost: recovery codes and passkeys, which are not sealed, still open the login. */
function readableSecret({ sealer }: AccountContext, { id, totpSecret }: Account): Uint8Array | null {
  return totpSecret && openOrNull(() => sealer.open(totpSecret, totpSealContext(id)));
}

/** Makes the secret that an authenticator app scans. Throws AppError `state_conflict` while another is in force. */
export async function prepareTotp(
  tx: Transaction,
  context: AccountContext,
  account: Account,
): Promise<{ text: string; url: string }> {
  const secret = createTotpSecret(context.random);
  const sealed = context.sealer.seal(secret, totpSealContext(account.id));
  if ((await setTotpSecret(tx, account.id, sealed)) === 0) {
    throw new AppError('state_conflict', 'An authenticator app is set up already. Remove it first.');
  }
  return totpSetup(secret, { issuer: 'Dalasi', email: account.email });
}

/** The prepared secret once more, for the form that comes back after a wrong code; null without one. */
export function preparedTotp(context: AccountContext, account: Account): { text: string; url: string } | null {
  const secret = account.totpConfirmedAt === null ? readableSecret(context, account) : null;
  return secret && totpSetup(secret, { issuer: 'Dalasi', email: account.email });
}

/** Puts the prepared app in force with its first code. Throws AppError `invalid_request` that names `code`. */
export async function enableTotp(
  tx: Transaction,
  context: AccountContext,
  { account: { id }, code }: { account: Account; code: string },
): Promise<void> {
  const account = await lockAccount(tx, id);
  const isPrepared = account !== undefined && account.totpSecret !== null && account.totpConfirmedAt === null;
  const now = context.clock.now();
  const step = isPrepared ? totpStepOf(totpSecretOf(context, account), code, now) : null;
  if (step === null || (await acceptTotpStep(tx, id, step)) === 0) {
    throw fieldError('invalid_request', 'code', 'This code is not right. Type the one that the app shows now.');
  }
  tx.send(confirmTotp(id, now));
}

/** Returns false if there is no app in force: the button was pressed before. */
export async function disableTotp(tx: Transaction, account: Account): Promise<boolean> {
  return (await removeTotp(tx, account.id)) === 1;
}

/** Replaces the recovery codes, also those of another press of the button at the same moment; returned this once. */
export async function createRecoveryCodes(
  tx: Transaction,
  { random, pepper }: Pick<AccountContext, 'random' | 'pepper'>,
  accountId: string,
): Promise<string[]> {
  await lockAccount(tx, accountId);
  const codes = Array.from({ length: recoveryCodesCount }, () => createRecoveryCode(random));
  tx.send(deleteRecoveryCodes(accountId));
  for (const code of codes) tx.send(insertRecoveryCode(accountId, hashOfRecoveryCode(pepper, accountId, code)));
  return codes;
}
