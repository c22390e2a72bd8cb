import { secondMs, hourMs } from '../../kit/clock.ts';
import { dalasi } from '../../kit/money.ts';
import type { CollectionCapabilities, PayoutCapabilities, RefundCapabilities } from '../contract.ts';
import { milliseconds } from '../read-configuration.ts';
import type { GsmaConfiguration, GsmaNetwork } from './configuration.ts';

export function collectionCapabilities(configuration: GsmaConfiguration): CollectionCapabilities {
  return {
    shape: 'push',
    numberRequired: true,
    // The API has no way to take a request back before it has ended.
    canCancel: false,
    amountStepMinor: stepOf(configuration),
    lookUpDelaysMs: milliseconds(configuration.lookUpSeconds),
    notFoundIsFinalAfterMs: configuration.notFoundIsFinalSeconds * secondMs,
    recheckAfterMs: milliseconds(configuration.recheckSeconds),
  };
}

export function payoutCapabilities(
  configuration: GsmaConfiguration,
  breakerScope: PayoutCapabilities['breakerScope'],
): PayoutCapabilities {
  return { ...outgoing(configuration), amountStepMinor: stepOf(configuration), breakerScope };
}

/** Null where the provider reverses nothing. */
export function refundCapabilities(
  configuration: GsmaConfiguration,
  { refunds, refundHours }: GsmaNetwork,
): RefundCapabilities | null {
  if (refunds === 'none') return null;
  return {
    ...outgoing(configuration),
    partial: refunds === 'parts',
    withinMs: refundHours * hourMs,
    reversesCollection: true,
  };
}

function outgoing(configuration: GsmaConfiguration) {
  return {
    lookUpDelaysMs: milliseconds(configuration.lookUpSeconds),
    // A request that is repeated has the same correlation id, so it is never executed twice.
    resendAfterMs: configuration.notFoundIsFinalSeconds * secondMs,
    giveUpAfterMs: 24 * hourMs,
    recheckAfterMs: milliseconds(configuration.recheckSeconds),
  };
}

function stepOf({ amounts }: GsmaConfiguration): bigint {
  return amounts.step === 'whole' ? dalasi : 1n;
}
