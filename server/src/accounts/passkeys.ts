import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { fieldError } from '../api/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import type { Account, Passkey } from './account.ts';
import type { AccountContext } from './context.ts';
import { consumeChallenge, newChallenge } from './passkey-challenge.ts';
import {
  deletePasskey,
  deleteSessions,
  findPasskey,
  insertPasskey,
  listPasskeys,
  lockAccount,
  recordPasskeyUse,
} from './queries.ts';

/** Loaded with the first passkey: with what it imports it would be one in seven of the modules of every start. */
const webauthn = () => import('@simplewebauthn/server');

const nameLengthMax = 60;
const passkeysMax = 20;

/** What the browser needs to make a new passkey, as JSON. */
export async function passkeyCreation(context: AccountContext, account: Account): Promise<object> {
  const existing = await listPasskeys(context.db, account.id);
  const { hostname } = new URL(context.publicUrl());
  const { generateRegistrationOptions } = await webauthn();
  return generateRegistrationOptions({
    rpName: 'Dalasi',
    rpID: hostname,
    userName: account.email,
    userDisplayName: account.name,
    userID: Uint8Array.from(Buffer.from(account.id)),
    challenge: newChallenge(context, account.id),
    attestationType: 'none',
    excludeCredentials: existing.map(({ credentialId }) => ({ id: credentialId })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
}

/** What the browser needs to answer with a passkey, as JSON: with any of this server's, or with the account's. */
export async function passkeyRequest(context: AccountContext, account: Account | null): Promise<object> {
  const own = account === null ? [] : await listPasskeys(context.db, account.id);
  const { generateAuthenticationOptions } = await webauthn();
  return generateAuthenticationOptions({
    rpID: new URL(context.publicUrl()).hostname,
    challenge: newChallenge(context, account?.id ?? null),
    allowCredentials: own.map(({ credentialId }) => ({ id: credentialId })),
    userVerification: 'required',
  });
}

/** Stores a passkey that the browser made. Throws AppError `invalid_request`. */
export async function addPasskey(
  tx: Transaction,
  context: AccountContext,
  { account, name, response }: { account: Account; name: string; response: string },
): Promise<Passkey> {
  const refused = fieldError('invalid_request', 'passkey', 'The browser’s answer could not be used. Try again.');
  const { origin, hostname } = new URL(context.publicUrl());
  const { verifyRegistrationResponse } = await webauthn();
  const verified = await verifyRegistrationResponse({
    response: parsed<RegistrationResponseJSON>(response, refused),
    expectedChallenge: (challenge) => consumeChallenge(tx, context, { challenge, accountId: account.id }),
    expectedOrigin: origin,
    expectedRPID: hostname,
  }).catch(() => undefined);
  if (!verified?.verified) throw refused;
  if ((await listPasskeys(tx, account.id)).length >= passkeysMax) {
    throw fieldError('invalid_request', 'passkey', `A login has at most ${passkeysMax} passkeys. Remove one first.`);
  }
  const { credential } = verified.registrationInfo;
  const passkey: Passkey = {
    accountId: account.id,
    id: context.newId(),
    credentialId: credential.id,
    publicKey: credential.publicKey,
    signCount: BigInt(credential.counter),
    name: name.trim().slice(0, nameLengthMax) || 'Passkey',
    createdAt: context.clock.now(),
    lastUsedAt: null,
  };
  if ((await insertPasskey(tx, passkey)) === 0) throw refused;
  return passkey;
}

/** Removes a passkey, and ends all sessions but the one that removes it. Returns false if there is no such passkey. */
export async function removePasskey(
  tx: Transaction,
  { accountId, id, sessionId }: { accountId: string; id: string; sessionId: string },
): Promise<boolean> {
  // Whoever signs in with it at the same time is done before this, and signed out by it, or finds it gone.
  await lockAccount(tx, accountId);
  if ((await deletePasskey(tx, accountId, id)) === 0) return false;
  tx.send(deleteSessions(accountId, sessionId));
  return true;
}

/**
 * The passkey that answered one of our challenges, with its owner's finger, face or PIN; undefined for any other answer. A
 * challenge counts once.
 */
export async function verifyPasskey(context: AccountContext, response: string): Promise<Passkey | undefined> {
  const parsedResponse = parsed<AuthenticationResponseJSON>(response, null);
  const passkey = typeof parsedResponse?.id === 'string' ? await findPasskey(context.db, parsedResponse.id) : undefined;
  if (!parsedResponse || !passkey) return undefined;
  const { origin, hostname } = new URL(context.publicUrl());
  const { verifyAuthenticationResponse } = await webauthn();
  const verified = await verifyAuthenticationResponse({
    response: parsedResponse,
    expectedChallenge: (challenge) =>
      consumeChallenge(context.db, context, { challenge, accountId: passkey.accountId }),
    expectedOrigin: origin,
    expectedRPID: hostname,
    credential: {
      id: passkey.credentialId,
      publicKey: Uint8Array.from(passkey.publicKey),
      counter: Number(passkey.signCount),
    },
    requireUserVerification: true,
  }).catch(() => undefined);
  if (!verified?.verified) return undefined;
  const signCount = BigInt(verified.authenticationInfo.newCounter);
  const used = await recordPasskeyUse(context.db, passkey, { signCount, usedAt: context.clock.now() });
  return used === 1 ? passkey : undefined;
}

function parsed<Response>(text: string, refusal: Error): Response;
function parsed<Response>(text: string, refusal: null): Response | undefined;
function parsed<Response>(text: string, refusal: Error | null): Response | undefined {
  try {
    return JSON.parse(text) as Response;
  } catch {
    if (refusal) throw refusal;
    return undefined;
  }
}
