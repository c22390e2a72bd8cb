import { assert } from '../kit/assert.ts';
import type { LookUp, PayoutResponse, PayoutCapabilities } from '../networks/contract.ts';
import { payoutBreakers } from '../networks/payout-breakers.ts';
import type { PayoutBreakers } from '../networks/payout-breakers.ts';
import { callbackName } from '../networks/registry.ts';
import { connectorOf, paysOut } from './connector-of.ts';
import type { TransferContext } from './context.ts';
import type { Transfer } from './transfer.ts';

/** The way by which one transfer goes: a network's payouts, or its refunds of what it had collected. */
export interface Rail {
  displayName: string;
  callTimeoutMs: number;
  capabilities: Pick<PayoutCapabilities, 'lookUpDelaysMs' | 'resendAfterMs' | 'giveUpAfterMs'>;
  /** Null for refunds, which no circuit breaker holds back: they are rare and answer for themselves. */
  breakers: PayoutBreakers | null;
  /** The same bytes each time, so that the network knows the order again. */
  send(): Promise<PayoutResponse>;
  lookUp(): Promise<PayoutResponse>;
}

export async function railOf(context: TransferContext, transfer: Transfer): Promise<Rail> {
  const connector = await connectorOf(context, transfer);
  const { displayName, callTimeoutMs } = connector.capabilities;
  const { reference, amountMinor, currency, merchantId } = transfer;
  const callbackUrl = `${context.settings.callbackBaseUrl()}/networks/${callbackName(connector)}/callbacks`;
  const known = { displayName, callTimeoutMs };
  const lookUpRequest: LookUp = { reference, handles: transfer.networkHandles ?? {} };
  const description = await describe(context, transfer);
  if (transfer.route === 'network') {
    const { refunds } = connector;
    const { originalReference: originalTransactionId } = transfer;
    assert(refunds && originalTransactionId !== null, 'a network that refunds stays configured');
    const request = { reference, originalTransactionId, amountMinor, currency, description, callbackUrl };
    const { capabilities } = refunds;
    return {
      ...known,
      capabilities,
      breakers: null,
      send: () => refunds.start(request),
      lookUp: () => refunds.lookUp(lookUpRequest),
    };
  }
  assert(paysOut(connector), 'a network that pays out stays configured');
  const { payouts } = connector;
  const request = {
    reference,
    amountMinor,
    currency,
    beneficiaryNumber: transfer.accountCanonical,
    beneficiaryNumberAsSent: transfer.accountNumber,
    beneficiaryName: transfer.beneficiaryName,
    description,
    callbackUrl,
  };
  return {
    ...known,
    capabilities: payouts.capabilities,
    breakers: payoutBreakers(connector, { merchantId, number: transfer.accountCanonical }),
    send: () => payouts.start(request),
    lookUp: () => payouts.lookUp(lookUpRequest),
  };
}

/** What the beneficiary reads beside the money. */
async function describe(context: TransferContext, { merchantId, narration }: Transfer): Promise<string> {
  const merchantName = (await context.merchants.byId(merchantId))?.name ?? '';
  return narration === null ? merchantName : `${merchantName}: ${narration}`;
}
