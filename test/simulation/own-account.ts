import { createRailAccountContext } from '../../server/src/app/contexts.ts';
import { addRailAccount, type RailAccountContext } from '../../server/src/rail-accounts/manage-accounts.ts';
import type { Merchant } from '../../server/src/merchants/merchant.ts';
import type { Secrets } from '../../server/src/configuration/secrets.ts';
import { accountCredential } from '../../simulator/credentials.ts';
import type { Database } from '../../server/src/kit/db.ts';
import type { Clock } from '../../server/src/kit/clock.ts';

/**
 * An account that an operator has connected for one merchant. It comes before those of the test environment, which cannot be paused; for
 * a live merchant it is the only one.
 */
export const ownAccountName = 'kairaba-own';
/** One more, with the same wallet, which operators connect at the console. */
export const secondAccountName = 'kairaba-second';

const institution = (identifier: string) => ({ type: 'organisationid', identifier });
// As `server/src/networks/gsma/test-account.ts`: the same simulated provider, and the merchant's own wallet there.
const config = {
  networks: [
    { network: 'afrimoney', collects: false, refundHours: 48, institution: institution('afrimoney') },
    { network: 'qmoney', collects: false, refundHours: 48, institution: institution('qmoney') },
    { network: 'aps', refunds: 'parts', refundHours: 48, institution: institution('aps') },
  ],
  statuses: { pending: 'pending', completed: 'succeeded', reversed: 'reversed' },
  errors: { requestExpired: 'expired', oneTimeCodeError: 'code_wrong', accountBlocked: 'account_blocked' },
  identifier: { key: 'msisdn', prefix: '+220', digits: 'new' },
  fees: 'ours',
  lookUpSeconds: [2, 3, 5, 10, 20, 30],
  recheckSeconds: [],
  notFoundIsFinalSeconds: 30,
};

export interface OwnAccountOptions {
  clock: Clock;
  secrets: Pick<Secrets, 'sealer' | 'simulatorBearerSecret'>;
  internalUrl: string;
}

export async function connectOwnAccount(
  db: Database,
  { shortId, businessId, testMode }: Pick<Merchant, 'shortId' | 'businessId' | 'testMode'>,
  { clock, secrets, internalUrl }: OwnAccountOptions,
): Promise<void> {
  const parts = { db, clock, secrets, config: { production: false }, notifier: { notify: () => {} } };
  const context: RailAccountContext = createRailAccountContext(parts);
  const { 'base-url': baseUrl, ...fields } = accountFields({ shortId, secrets, internalUrl });
  await db.withTransaction((tx) =>
    addRailAccount(tx, context, {
      ...{ kind: 'gsma', name: ownAccountName, testMode, businessId, position: null, baseUrl, fields },
    }),
  );
}

/** What is typed to connect an account with the merchant's own wallet. */
export function accountFields({
  shortId,
  secrets,
  internalUrl,
}: Pick<Merchant, 'shortId'> &
  Pick<OwnAccountOptions, 'internalUrl'> & {
    secrets: Pick<Secrets, 'simulatorBearerSecret'>;
  }) {
  const apiKey = accountCredential(secrets.simulatorBearerSecret, { network: 'gsma', account: shortId });
  const baseUrl = `${internalUrl}/simulator/networks/gsma`;
  return { 'base-url': baseUrl, config: JSON.stringify(config), 'api-key': apiKey, amounts: 'bututs' };
}
