import { assert } from '../kit/assert.ts';
import {
  paysOut,
  type Connector,
  type LookUp,
  type PayoutBatch,
  type PayoutBatchResponse,
  type PayoutCapabilities,
  type PayoutResponse,
  type StartPayout,
} from '../networks/contract.ts';
import { payoutBreakers, type PayoutBreakers } from '../networks/payout-breakers.ts';
import { callbackUrlOf, ofNetwork } from '../networks/registry.ts';
import type { TransferContext } from './context.ts';
import type { Transfer } from './transfer.ts';

/** The connector that pays a transfer. Its account stays connected while it has transfers. */
export async function connectorOf(
  { merchants, networks }: Pick<TransferContext, 'merchants' | 'networks'>,
  { merchantId, network, railAccount }: Transfer,
): Promise<Connector> {
  const merchant = await merchants.byId(merchantId);
  assert(merchant, 'a transfer has its merchant');
  const connector =
    railAccount === null ? ofNetwork(networks.payingOut(merchant), network) : networks.find({ railAccount, network });
  assert(connector, `the account ${railAccount ?? ''} that pays out to ${network} is connected`);
  return connector;
}

/** The operations of a network for one transfer: its payouts, or its refunds of what it collected. */
export interface Rail {
  displayName: string;
  callTimeoutMs: number;
  capabilities: Pick<PayoutCapabilities, 'lookUpDelaysMs' | 'resendAfterMs' | 'giveUpAfterMs' | 'recheckAfterMs'>;
  /** Null for refunds, which have no circuit breaker, because they are rare. */
  breakers: PayoutBreakers | null;
  /** Null where the network takes each payout alone. */
  batch: RailBatch | null;
  /** Sends the same bytes each time, so that the network recognizes a repetition. */
  send(): Promise<PayoutResponse>;
  /** With `hasSucceeded` only a reversal is of interest. */
  lookUp(known?: Pick<LookUp, 'hasSucceeded' | 'earlierLookUps'>): Promise<PayoutResponse>;
}

/** How transfers are sent together. */
export interface RailBatch {
  /** The most that are; 1 where the account sends each alone. */
  transfersMax: number;
  /** This transfer in a batch, the same each time. */
  request: StartPayout;
  start(batch: PayoutBatch): Promise<PayoutBatchResponse>;
}

export async function railOf(
  context: Pick<TransferContext, 'merchants' | 'networks' | 'settings'>,
  transfer: Transfer,
): Promise<Rail> {
  const connector = await connectorOf(context, transfer);
  const { displayName, callTimeoutMs } = connector.capabilities;
  const { reference, amountMinor, currency, merchantId, narration } = transfer;
  const merchantName = (await context.merchants.byId(merchantId))?.name ?? '';
  const request = {
    reference,
    amountMinor,
    currency,
    // The beneficiary reads it beside the money.
    description: narration === null ? merchantName : `${merchantName}: ${narration}`,
    callbackUrl: callbackUrlOf(context.settings, connector),
  };
  const lookUpRequest: LookUp = { reference, handles: transfer.networkHandles ?? {} };
  if (transfer.route === 'network') {
    const { refunds } = connector;
    const { originalReference: originalTransactionId } = transfer;
    assert(refunds && originalTransactionId !== null, 'a network that refunds stays configured');
    return {
      displayName,
      callTimeoutMs,
      capabilities: refunds.capabilities,
      breakers: null,
      batch: null,
      send: () => refunds.start({ ...request, originalTransactionId }),
      lookUp: (known) => refunds.lookUp({ ...lookUpRequest, ...known, originalTransactionId }),
    };
  }
  assert(paysOut(connector), 'a network that pays out stays configured');
  const { payouts } = connector;
  const { startBatch, capabilities } = payouts;
  const payout = {
    ...request,
    beneficiaryNumber: transfer.accountCanonical,
    beneficiaryNumberAsSent: transfer.accountNumber,
    beneficiaryName: transfer.beneficiaryName,
  };
  return {
    displayName,
    callTimeoutMs,
    capabilities,
    breakers: payoutBreakers(connector, { merchantId, number: transfer.accountCanonical }),
    batch: startBatch ? { transfersMax: capabilities.batchMax ?? 1, request: payout, start: startBatch } : null,
    send: () => payouts.start(payout),
    lookUp: (known) => payouts.lookUp({ ...lookUpRequest, ...known }),
  };
}
