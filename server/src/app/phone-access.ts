import { createHmac } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Config } from '../configuration/config.ts';
import { isSameText } from '../kit/same-text.ts';
import type { PhoneAccess } from '../../../simulator/phone/phone-pages.ts';
import type { CheckoutView } from '../payments/checkout-view.ts';
import type { Secrets } from '../configuration/secrets.ts';

const shortIdLength = 8;

/**
 * Access to the simulated phone. On a developer's machine it is open; on a production server it takes a merchant's link, which
 * nobody can guess and which shows that merchant's prompts only (docs/testing-with-the-simulator.md, "The phone").
 */
export function phoneAccess(config: Config, secrets: Secrets): (request: FastifyRequest) => PhoneAccess {
  return (request) => {
    if (!config.production) return { allowed: true, account: null };
    const { key } = request.query as { key?: unknown };
    const account = typeof key === 'string' ? key.slice(0, shortIdLength) : '';
    const allowed = isSameText(typeof key === 'string' ? key : '', phoneKey(secrets, account));
    return { allowed, account: allowed ? account : null };
  };
}

/** The link to a merchant's simulated phone; on a production server it has a key that nobody can guess. */
export function phoneLink(
  config: Config,
  secrets: Pick<Secrets, 'simulatorPhoneSecret'>,
  { publicUrl, shortId }: { publicUrl: string; shortId: string },
): string {
  const base = `${publicUrl}/simulator/phone`;
  return config.production ? `${base}?key=${phoneKey(secrets, shortId)}` : base;
}

function phoneKey(secrets: Pick<Secrets, 'simulatorPhoneSecret'>, shortId: string): string {
  return shortId + createHmac('sha256', secrets.simulatorPhoneSecret).update(shortId).digest('hex').slice(0, 32);
}

/** The phone's URL for the payer of a test payment; the pages of a production server do not show it. */
export function simulatedPhoneUrl(config: Config, publicUrl: string, view: CheckoutView): string | null {
  if (config.production || !view.testMode) return null;
  // At a network that approves by a link, the link opens the phone.
  if (view.charge?.nextAction?.type === 'open_url') return null;
  const number = view.charge?.simulatedNumber ?? null;
  const phone = `${publicUrl}/simulator/phone`;
  return number === null ? phone : `${phone}/${encodeURIComponent(number)}`;
}
