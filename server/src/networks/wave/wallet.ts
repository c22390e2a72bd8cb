import type { Reply } from '../http-client.ts';
import { isObject, isOneOf } from '../response-values.ts';
import { waveErrorCode } from './errors.ts';
import { readSigned } from './statement.ts';
import { isSuccess } from './translate.ts';
import { waveAmount, waveNumber, type WaveRail } from './wave-rail.ts';

/** A name that was compared with the wallet's; Wave never reveals the name it has. */
export interface RecipientCheck {
  withinLimits: boolean;
  name: 'match' | 'no_match' | 'not_known';
}

/** Operations of one wallet that are not part of the contract. Each returns undefined where Wave's response is not clear. */
export interface WalletOperations {
  balance(): Promise<{ amountMinor: bigint; currency: string } | undefined>;
  verifyRecipient(recipient: {
    reference: string;
    number: string;
    name: string;
    amountMinor: bigint;
    currency: string;
  }): Promise<RecipientCheck | undefined>;
  /** Calls a payout back, within three days and with its fee. `refused` has Wave's code. May be repeated. */
  reversePayout(payout: {
    reference: string;
    payoutId: string;
  }): Promise<{ state: 'reversed' } | { state: 'refused'; code: string } | undefined>;
}

export function createWalletOperations(rail: WaveRail): WalletOperations {
  const { client } = rail;
  return {
    balance: async () => readBalance(await client.get('/v1/balance', null)),
    verifyRecipient: async ({ reference, number, name, amountMinor, currency }) => {
      const body = { mobile: waveNumber(rail, number), name, amount: waveAmount(amountMinor), currency };
      return readCheck(await client.post({ pool: 'look_ups', path: '/v1/verify_recipient/', reference, body }));
    },
    reversePayout: async ({ reference, payoutId }) => {
      const path = `/v1/payout/${encodeURIComponent(payoutId)}/reverse`;
      return readReversal(await client.post({ pool: 'payouts', path, reference }));
    },
  };
}

function readBalance(reply: Reply): { amountMinor: bigint; currency: string } | undefined {
  if (reply.kind !== 'response' || !isSuccess(reply) || !isObject(reply.body)) return undefined;
  const { currency } = reply.body;
  const amountMinor = readSigned(reply.body['amount']);
  return amountMinor === undefined || typeof currency !== 'string' ? undefined : { amountMinor, currency };
}

const nameMatches = ['MATCH', 'NO_MATCH', 'NAME_NOT_KNOWN'] as const;

function readCheck(reply: Reply): RecipientCheck | undefined {
  if (reply.kind !== 'response' || !isSuccess(reply) || !isObject(reply.body)) return undefined;
  const { within_limits: withinLimits, name_match: match } = reply.body;
  if (typeof withinLimits !== 'boolean' || !isOneOf(nameMatches, match)) return undefined;
  const names = { MATCH: 'match', NO_MATCH: 'no_match', NAME_NOT_KNOWN: 'not_known' } as const;
  return { withinLimits, name: names[match] };
}

const reversalRefusals = [
  'insufficient-funds',
  'payout-reversal-time-limit-exceeded',
  'payout-reversal-account-terminated',
  'not-found',
] as const;

function readReversal(reply: Reply): { state: 'reversed' } | { state: 'refused'; code: string } | undefined {
  if (reply.kind !== 'response') return undefined;
  if (isSuccess(reply)) return { state: 'reversed' };
  const code = waveErrorCode(reply.body);
  return isOneOf(reversalRefusals, code) ? { state: 'refused', code } : undefined;
}
