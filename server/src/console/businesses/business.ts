import { AppError } from '../../api/app-error.ts';
import { isUuid } from '../../kit/ids.ts';
import type { Business as BusinessStatus } from '../../merchants/business-status.ts';
import { listMerchants } from '../../merchants/manage-keys.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import type { StateMark } from '../../portal/patterns/texts.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import type { Environment } from '../../portal/environment.ts';
import type { ConsoleVisit } from '../visit.ts';

/** A business with its two merchants. */
export interface Business {
  id: string;
  name: string;
  test: Merchant;
  live: Merchant;
}

/** The merchants of an environment by their ids, oldest first. */
export async function merchantsOf({ money, environment }: ConsoleVisit): Promise<ReadonlyMap<string, Merchant>> {
  const merchants = (await listMerchants(money.db)).filter(({ testMode }) => testMode === (environment === 'test'));
  return new Map(merchants.map((merchant) => [merchant.id, merchant]));
}

/** Newest first. */
export async function listBusinesses({ money }: ConsoleVisit): Promise<Business[]> {
  const merchants = await listMerchants(money.db);
  const live = new Map(merchants.filter(({ testMode }) => !testMode).map((each) => [each.businessId, each]));
  return merchants
    .flatMap((test) => {
      const other = live.get(test.businessId);
      return test.testMode && other ? [{ id: test.businessId, name: test.name, test, live: other }] : [];
    })
    .toReversed();
}

/** Throws AppError `not_found`. */
export async function findBusiness({ money }: ConsoleVisit, { params }: PageInput): Promise<Business> {
  const { id = '' } = params;
  const merchants = isUuid(id) ? await money.merchants.ofBusiness(id) : [];
  const [test, live] = [merchants.find((each) => each.testMode), merchants.find((each) => !each.testMode)];
  if (!test || !live) throw new AppError('not_found', 'There is no such business.');
  return { id, name: test.name, test, live };
}

export function statusMark({
  suspendedAt,
  liveApprovedAt,
}: Pick<BusinessStatus, 'suspendedAt' | 'liveApprovedAt'>): StateMark {
  if (suspendedAt !== null) return { tone: 'bad', icon: 'warning', text: 'Suspended' };
  if (liveApprovedAt !== null) return { tone: 'good', icon: 'check', text: 'Live' };
  return { tone: 'calm', icon: 'clock', text: 'Test only' };
}

/** A business's merchant of the environment that stands in the address's query; live, unless it says test. */
export interface MerchantOfBusiness {
  business: Business;
  merchant: Merchant;
  environment: Environment;
}

/** Throws AppError `not_found`. */
export async function loadMerchant(visit: ConsoleVisit, input: PageInput): Promise<MerchantOfBusiness> {
  const business = await findBusiness(visit, input);
  const environment = input.query['environment'] === 'test' ? 'test' : 'live';
  return { business, merchant: business[environment], environment };
}
