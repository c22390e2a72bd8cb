import {
  merchantPermission,
  merchantRoles,
  operatorPermission,
  operatorRoles,
  type MerchantAction,
  type MerchantRole,
  type OperatorAction,
  type OperatorRole,
} from '../../server/src/accounts/permissions.ts';
import { openConsoleWorld, type ConsoleWorld, type SignedInOperator } from './console-world.ts';
import type { Member } from './dashboard-world.ts';
import { eventually } from './eventually.ts';
import {
  createPortalRecords,
  fillLists,
  largestTexts,
  longestName,
  moveToLive,
  signInRoles,
  type PortalRecords,
} from './portal-records.ts';
import { namesRecord, pathWith, type PortalRoute } from './portal-routes.ts';
import type { TestBusiness } from './service.ts';

export type Role = MerchantRole | OperatorRole;
export const environments = ['test', 'live'] as const;
export type Environment = (typeof environments)[number];
/** `little`: lists without a row, records as most are. `full`: several pages of rows, the longest texts, the largest amounts. */
export const amountsOfData = ['little', 'full'] as const;
export type DataAmount = (typeof amountsOfData)[number];

export interface PortalVisit {
  role: Role;
  environment: Environment;
  data: DataAmount;
}

/** A service in which every page of the dashboard and the console can be seen with little and with full data, test and live. */
export interface PortalVisits {
  world: ConsoleWorld;
  /** The whole address of a route, and the cookie of whoever opens it. */
  find(route: PortalRoute, visit: PortalVisit): { url: string; cookie: string; records: PortalRecords };
  stop(): Promise<void>;
}

/** Whether a role may open a page, and it exists in the environment. A cashier takes payments at a counter's screen instead. */
export function mayVisit({ realm, path, action }: PortalRoute, { role, environment }: PortalVisit): boolean {
  // No network is connected to a test's live environment.
  if (environment === 'live' && path.startsWith('/networks/:network')) return false;
  if (role === 'cashier' && path === '/payments/new') return false;
  if (realm === 'operator') return operatorPermission(role as OperatorRole, action as OperatorAction).isAllowed;
  const testMode = environment === 'test';
  return merchantPermission(role as MerchantRole, action as MerchantAction, { testMode }).isAllowed;
}

interface FilledBusiness {
  business: TestBusiness;
  records: PortalRecords;
  members: ReadonlyMap<MerchantRole, Member>;
}

export async function openPortalVisits(): Promise<PortalVisits> {
  const [world, emptyWorld] = await Promise.all([openConsoleWorld(), openConsoleWorld()]);
  const businesses = new Map<string, FilledBusiness>();
  // Live first: by the end of it the service has forgotten that their merchants were those of test.
  for (const environment of environments.toReversed()) {
    for (const data of amountsOfData) {
      businesses.set(`${environment} ${data}`, await fillBusiness(world, { environment, data }));
    }
  }
  const empty = await addPeople(world, await world.dashboard.service.onboard('Serekunda Shoes'), []);
  const operators = await signInOperators(world);
  for (const data of amountsOfData) await untilLive(world, businesses.get(`live ${data}`) as FilledBusiness);
  const lonely = await signInOperators(emptyWorld);
  return {
    world,
    find(route, { role, environment, data }) {
      const filled = businesses.get(`${environment} ${data}`) as FilledBusiness;
      const isEmpty = data === 'little' && !namesRecord(route);
      if (route.realm === 'operator') {
        const [{ dashboard }, people] = isEmpty ? [emptyWorld, lonely] : [world, operators];
        const base = `/operator${route.isOfEnvironment ? `/${environment}` : ''}`;
        const records = { ...filled.records, operatorId: people.get('support')?.operatorId ?? '' };
        const url = `${dashboard.service.url}${base}${pathWith(route, records, environment)}`;
        return { url, records, cookie: people.get(role as OperatorRole)?.cookie ?? '' };
      }
      const { business, members } = isEmpty ? { business: empty.business, members: empty.members } : filled;
      // A cashier sees the payments of the own counters.
      const { counterPaymentId: intentId } = filled.records;
      const records = role === 'cashier' ? { ...filled.records, intentId } : filled.records;
      const { shortId } = business[environment].merchant;
      const url = `${world.dashboard.service.url}/dashboard/${environment}/${shortId}${pathWith(route, records, environment)}`;
      return { url, records, cookie: members.get(role as MerchantRole)?.cookie ?? '' };
    },
    async stop() {
      await Promise.all([world.stop(), emptyWorld.stop()]);
    },
  };
}

async function fillBusiness(
  world: ConsoleWorld,
  { environment, data }: Pick<PortalVisit, 'environment' | 'data'>,
): Promise<FilledBusiness> {
  const { dashboard } = world;
  const name = data === 'full' ? { name: longestName } : {};
  const created = await dashboard.service.onboard(name.name);
  const owner = await dashboard.signIn('owner', { business: created, ...name });
  const records = await createPortalRecords(dashboard, created, owner, data === 'full' ? largestTexts : {});
  if (data === 'full') await fillLists(dashboard, created);
  const business = environment === 'live' ? await moveToLive(dashboard, created) : created;
  const { members } = await addPeople(world, business, [records.terminalId], name.name);
  return { business, records, members };
}

/** Processes keep merchants for three seconds. */
async function untilLive({ dashboard }: ConsoleWorld, { business, members }: FilledBusiness): Promise<void> {
  const { shortId } = business.live.merchant;
  const owner = members.get('owner');
  const isThere = async () =>
    (await owner?.get(`${dashboard.service.url}/dashboard/live/${shortId}/more`))?.ok === true;
  await eventually('the business is found in live', isThere);
}

async function addPeople(
  { dashboard }: ConsoleWorld,
  business: TestBusiness,
  terminalIds: string[],
  name?: string,
): Promise<Omit<FilledBusiness, 'records'>> {
  const options = { terminalIds, roles: merchantRoles, ...(name !== undefined && { name }) };
  return { business, members: await signInRoles(dashboard, business, options) };
}

async function signInOperators(world: ConsoleWorld): Promise<ReadonlyMap<OperatorRole, SignedInOperator>> {
  const operators = new Map<OperatorRole, SignedInOperator>();
  for (const role of operatorRoles) operators.set(role, await world.signInOperator(role));
  return operators;
}
