import { addMs } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { LocalAllowances } from '../kit/local-allowance.ts';
import type { Log } from '../kit/log.ts';
import { AccountLabels } from '../networks/account-labels.ts';
import type { AccountConnection } from '../networks/connector-kind.ts';
import { findConnectorKind } from '../networks/connector-kinds.ts';
import { withLookUpBudget } from '../networks/look-up-budget.ts';
import { withObservedCalls, type ObservedCall } from '../networks/observed-connector.ts';
import { defaultRank, type ChangingNetworkRegistry, type RankedConnector } from '../networks/registry.ts';
import { connectAccount, type ConnectContext, type StoredAccount } from './connect-account.ts';
import { listRailAccounts, listValidCredentials, readAccountsRevision } from './queries.ts';
import { lookUpsPerSecondOf } from './account-fields.ts';
import type { RailAccount } from './rail-account.ts';

export interface ConnectedAccountsOptions extends ConnectContext {
  db: Queryable;
  log: Log;
  registry: Pick<ChangingNetworkRegistry, 'replace'>;
  /** Reports each call; an account keeps its label. */
  observeCall: (call: ObservedCall & { account: string }) => void;
}

/** An account as this process has connected it. */
export interface ConnectedAccount {
  account: RailAccount;
  /** Null where it could not be connected. */
  connection: AccountConnection | null;
  /** Why not, in a sentence. */
  problem: string | null;
}

const burstSeconds = 5;
// Longer than any call: an account that was changed answers what is under way with what it was.
const retiredForMs = 60_000;

/** This process's connections of the stored rail accounts. It reads them again when one has changed. */
export class ConnectedAccounts {
  readonly #options: ConnectedAccountsOptions;
  readonly #labels = new AccountLabels();
  #revision: string | null = null;
  #accounts: ReadonlyMap<string, ConnectedAccount> = new Map();
  #retired: { connection: AccountConnection; closeAt: Date }[] = [];

  constructor(options: ConnectedAccountsOptions) {
    this.#options = options;
  }

  /** Ordered by name. */
  list(): readonly ConnectedAccount[] {
    return [...this.#accounts.values()];
  }

  /** Whether an account has changed since they were read. One small statement. */
  async hasChanged(): Promise<boolean> {
    await this.#closeRetired(this.#options.clock.now());
    return (await readAccountsRevision(this.#options.db)) !== this.#revision;
  }

  /** Reads the accounts and connects those that are new or have changed. */
  async load(): Promise<void> {
    const { db, clock, registry } = this.#options;
    const revision = await readAccountsRevision(db);
    const accounts = await listRailAccounts(db);
    const credentials = Map.groupBy(await listValidCredentials(db, clock.now()), ({ railAccount }) => railAccount);
    const next = new Map<string, ConnectedAccount>();
    for (const account of accounts) {
      next.set(account.name, this.#connect({ account, credentials: credentials.get(account.name) ?? [] }));
    }
    const closeAt = addMs(clock.now(), retiredForMs);
    for (const [name, { connection }] of this.#accounts) {
      if (connection && next.get(name)?.connection !== connection) this.#retired.push({ connection, closeAt });
    }
    this.#accounts = next;
    this.#revision = revision;
    registry.replace([...next.values()].flatMap((each) => this.#ranked(each)));
  }

  async close(): Promise<void> {
    const connected = this.list().flatMap(({ connection }) => connection ?? []);
    const all = [...connected, ...this.#retired.map(({ connection }) => connection)];
    this.#retired = [];
    await Promise.all(all.map((connection) => connection.close()));
  }

  /** The connection that there is, where nothing has changed that it depends on. */
  #connect(stored: StoredAccount): ConnectedAccount {
    const { account } = stored;
    const known = this.#accounts.get(account.name);
    if (known && known.account.version === account.version) return { ...known, account };
    const connected = connectAccount(this.#options, stored);
    if (!('problem' in connected)) {
      const rate = lookUpsPerSecondOf(account);
      const allowances = new LocalAllowances(this.#options.clock, { rate, burst: rate * burstSeconds });
      const label = this.#labels.labelOf({ railAccount: account.name, merchantId: account.merchantId });
      const connectors = connected.connectors.map((connector) =>
        withLookUpBudget(
          withObservedCalls(connector, (call) => this.#options.observeCall({ ...call, account: label })),
          allowances,
        ),
      );
      return { account, connection: { ...connected, connectors }, problem: null };
    }
    const { problem } = connected;
    this.#options.log.error('a rail account is not connected', undefined, { network: account.name, reason: problem });
    return { account, connection: null, problem };
  }

  #ranked({ account, connection }: ConnectedAccount): RankedConnector[] {
    const source = findConnectorKind(account.kind)?.source ?? 'api';
    const rank = account.position === null ? defaultRank(source, account.merchantId) : Number(account.position);
    const isDisabled = account.disabledAt !== null;
    return (connection?.connectors ?? []).map((connector) => ({
      connector,
      rank,
      isDisabled,
    }));
  }

  async #closeRetired(now: Date): Promise<void> {
    const due = this.#retired.filter(({ closeAt }) => closeAt <= now);
    this.#retired = this.#retired.filter(({ closeAt }) => closeAt > now);
    await Promise.all(due.map(({ connection }) => connection.close()));
  }
}
