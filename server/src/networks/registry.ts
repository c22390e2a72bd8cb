import { AppError } from '../api/app-error.ts';
import { withCheckedIds } from './checked-connector.ts';
import { collects, paysOut, type CollectingConnector, type Connector, type PayoutConnector } from './contract.ts';
import { knownNetworks, networkName } from './known-networks.ts';

/** The merchant for which a connector is chosen. */
export interface NetworkUser {
  id: string;
  testMode: boolean;
  /** Since when the operator lets its business take real money; null is not yet. */
  liveApprovedAt: Date | null;
}

/** For what a business prepares before it goes live: the networks that it will have. */
export function asApproved(merchant: Pick<NetworkUser, 'id' | 'testMode'>): NetworkUser {
  return { ...merchant, liveApprovedAt: new Date(0) };
}

/** The connected networks of both environments. */
export interface NetworkRegistry {
  /**
   * What collects for a merchant: one connector for each network, the first that `serves`, in the order in which payers see them.
   */
  collecting(
    merchant: NetworkUser,
    serves?: (connector: CollectingConnector) => boolean,
  ): readonly CollectingConnector[];
  /** What pays out for a merchant: one connector for each network, in the same order. */
  payingOut(merchant: NetworkUser): readonly PayoutConnector[];
  /** The networks that pay out for a merchant only once an operator enables an account again. */
  pausedPayouts(merchant: NetworkUser): readonly string[];
  /** Why a merchant has no network; null where it has one. */
  whyNone(merchant: NetworkUser): NoNetworkReason | null;
  /** The connector of one account for one network. It stays connected while anything that it has sent is open. */
  find(key: { railAccount: string; network: string }): Connector | undefined;
  /** By the account's name in a callback's URL: any of its connectors reads all of its callbacks. */
  findByAccount(railAccount: string): Connector | undefined;
  /** Whether a merchant's own number at a network takes money, whose receipts pay; also one that is disabled. */
  hasReceipts(merchantId: string, network: string): boolean;
  /** Every connector of an environment, also several for one network, and those that take nothing new. */
  list(testMode: boolean): readonly Connector[];
}

/**
 * Nothing is connected; only other businesses' accounts are; all of its accounts are disabled; its business is not approved
 * for live.
 */
export type NoNetworkReason = 'none' | 'others_only' | 'disabled' | 'not_approved';

/** A connector of an account that an operator connects and disables while the service runs. */
export interface RankedConnector {
  connector: Connector;
  /** The lowest goes first among the accounts of one network. */
  rank: number;
  /** A disabled account takes nothing new, and finishes what it has. */
  isDisabled: boolean;
}

/** A registry to which accounts are added while the service runs. */
export interface ChangingNetworkRegistry extends NetworkRegistry {
  /** Replaces the accounts of the last call; those that the registry was created with stay. */
  replace(connectors: readonly RankedConnector[]): void;
}

/**
 * The place of an account among those of one network: an API before receipts, and among each a merchant's own before the
 * operator's. Between them is room for an order of the business's own.
 */
export function defaultRank(source: 'api' | 'receipts', merchantId: string | null): number {
  return (source === 'api' ? 10 : 30) + (merchantId === null ? 10 : 0);
}

export function createNetworkRegistry(uncheckedConnectors: readonly Connector[]): ChangingNetworkRegistry {
  const own = uncheckedConnectors.map((connector) => {
    const rank = defaultRank('api', connector.capabilities.merchantId);
    return { connector, rank, isDisabled: false };
  });
  let current = indexed(own);
  const openFor = (merchant: NetworkUser): Connector[] =>
    isApproved(merchant)
      ? servingFor(current, merchant).flatMap(({ connector, isDisabled }) => (isDisabled ? [] : [connector]))
      : [];
  return {
    collecting: (merchant, serves = () => true) =>
      firstOfEachNetwork(openFor(merchant).filter(collects).filter(serves)),
    payingOut: (merchant) => firstOfEachNetwork(openFor(merchant).filter(paysOut)),
    pausedPayouts: (merchant) => {
      if (!isApproved(merchant)) return [];
      const payers = servingFor(current, merchant).filter(({ connector }) => paysOut(connector));
      const networksOf = (accounts: readonly RankedConnector[]) =>
        accounts.map(({ connector }) => connector.capabilities.network);
      const paying = new Set(networksOf(payers.filter(({ isDisabled }) => !isDisabled)));
      return [...new Set(networksOf(payers))].filter((network) => !paying.has(network));
    },
    whyNone: (merchant) => {
      const serving = servingFor(current, merchant);
      if (serving.length === 0) return listOf(current, merchant.testMode).length > 0 ? 'others_only' : 'none';
      if (serving.every(({ isDisabled }) => isDisabled)) return 'disabled';
      return isApproved(merchant) ? null : 'not_approved';
    },
    find: ({ railAccount, network }) => ofNetwork(current.byAccount.get(railAccount) ?? [], network),
    findByAccount: (railAccount) => current.byAccount.get(railAccount)?.[0],
    hasReceipts: (merchantId, network) =>
      (current.byOwner.get(merchantId) ?? []).some(
        ({ connector: { capabilities, collections } }) =>
          capabilities.network === network && collections?.capabilities.shape === 'receipt',
      ),
    list: (testMode) => listOf(current, testMode),
    replace: (replaced) => {
      current = indexed([...own, ...replaced]);
    },
  };
}

/** Connectors in order, found without a search: there may be an account for each of thousands of merchants. */
interface Indexed {
  all: readonly Connector[];
  /** By the merchant that they serve alone; null for all. Each with its number in the order. */
  byOwner: ReadonlyMap<string | null, readonly (RankedConnector & { index: number })[]>;
  byAccount: ReadonlyMap<string, readonly Connector[]>;
}

function indexed(connectors: readonly RankedConnector[]): Indexed {
  const ordered = inOrder(connectors).map((each, index) => ({ ...each, index }));
  const all = ordered.map(({ connector }) => connector);
  return {
    all,
    byOwner: Map.groupBy(ordered, ({ connector }) => connector.capabilities.merchantId),
    byAccount: Map.groupBy(all, ({ capabilities }) => capabilities.railAccount),
  };
}

function listOf({ all }: Indexed, testMode: boolean): Connector[] {
  return all.filter(({ capabilities }) => capabilities.testMode === testMode);
}

/** Of a merchant's own and of everybody's accounts, those of its environment, in order. */
function servingFor({ byOwner }: Indexed, { id, testMode }: NetworkUser): RankedConnector[] {
  return [...(byOwner.get(id) ?? []), ...(byOwner.get(null) ?? [])]
    .filter(({ connector }) => connector.capabilities.testMode === testMode)
    .toSorted((one, other) => one.index - other.index);
}

function isApproved({ testMode, liveApprovedAt }: NetworkUser): boolean {
  return testMode || liveApprovedAt !== null;
}

/** Live before test, then by network, and of one network by rank. */
function inOrder(connectors: readonly RankedConnector[]): RankedConnector[] {
  const ranks = ({ connector: { capabilities }, rank }: RankedConnector): readonly number[] => [
    capabilities.testMode ? 1 : 0,
    knownNetworks.findIndex(({ id }) => id === capabilities.network),
    rank,
  ];
  return connectors
    .map((each) => ({ ...each, connector: withCheckedIds(each.connector) }))
    .toSorted((one, other) => compareRanks(ranks(one), ranks(other)));
}

function compareRanks(one: readonly number[], other: readonly number[]): number {
  return one.map((rank, index) => rank - (other[index] ?? 0)).find((difference) => difference !== 0) ?? 0;
}

/**
 * The connector that collects a charge: of the account that it names. A charge of a release that had one account for each
 * network names none.
 */
export function findCollecting(
  networks: NetworkRegistry,
  merchant: NetworkUser,
  { network, railAccount }: { network: string; railAccount: string | null },
): CollectingConnector | undefined {
  const found =
    railAccount === null ? ofNetwork(networks.collecting(merchant), network) : networks.find({ railAccount, network });
  return found && collects(found) ? found : undefined;
}

/** Where the network reports to. */
export function callbackUrlOf(
  { callbackBaseUrl }: { callbackBaseUrl: (railAccount: string) => string },
  { capabilities: { railAccount } }: Connector,
): string {
  return `${callbackBaseUrl(railAccount)}${callbackPath(railAccount)}`;
}

export function callbackPath(railAccount: string): string {
  return `/networks/${railAccount}/callbacks`;
}

/** Where the application on a shop's phone forwards messages to. */
export function messagePath(railAccount: string): string {
  return `/networks/${railAccount}/messages`;
}

/** Among connectors with one for each network. */
export function ofNetwork<Kind extends Connector>(connectors: readonly Kind[], network: string): Kind | undefined {
  return connectors.find(({ capabilities }) => capabilities.network === network);
}

function firstOfEachNetwork<Kind extends Connector>(connectors: readonly Kind[]): Kind[] {
  const byNetwork = new Map<string, Kind>();
  for (const connector of connectors) {
    const { network } = connector.capabilities;
    if (!byNetwork.has(network)) byNetwork.set(network, connector);
  }
  return [...byNetwork.values()];
}

/**
 * Throws AppError `network_not_available` (naming the field `path`, if given) if no network is connected for the merchant,
 * as on a server without live networks. The error is not stored under the idempotency key, because it passes without a
 * change of the request.
 */
export function refuseWithoutNetwork(networks: NetworkRegistry, merchant: NetworkUser, path?: string): void {
  const reason = networks.whyNone(merchant);
  if (reason === null) return;
  const advice = merchant.testMode ? '' : ', or use a test key meanwhile';
  const message = `${noNetworkTexts[reason](merchant.testMode ? 'test' : 'live')}${advice}.`;
  const fields = path === undefined ? {} : { fields: [{ path, message }] };
  throw new AppError('network_not_available', message, { ...fields, stored: false });
}

/**
 * The refusal of a payout that a network takes once the operator lets it again; undefined where the network does not pay out for the
 * merchant at all. It passes without a change of the request, so an idempotency key does not remember it.
 */
export function pausedRefusal(
  networks: NetworkRegistry,
  merchant: NetworkUser,
  { network, path }: { network: string; path?: string },
): AppError | undefined {
  if (!networks.pausedPayouts(merchant).includes(network)) return undefined;
  const message = `The operator of this server has paused payouts to ${networkName(network)}. Send the same request again later.`;
  const fields = path === undefined ? {} : { fields: [{ path, message }] };
  return new AppError('network_not_available', message, { ...fields, stored: false });
}

const noNetworkTexts: Readonly<Record<NoNetworkReason, (environment: string) => string>> = {
  none: (environment) => `No ${environment} network is connected to this server yet. Ask its operator to connect one`,
  others_only: (environment) =>
    `No ${environment} network is connected for this business yet. Ask the operator of this server to connect one`,
  disabled: (environment) =>
    `The operator of this server has disabled every ${environment} network of this business. Ask the operator for one`,
  not_approved: () =>
    'This business is not approved for live payments yet. Ask the operator of this server to approve it',
};
