import { createCaseContext } from '../../server/src/app/case-context.ts';
import { createAddress, createMoneyContext, createNetworks, createPlanner } from '../../server/src/app/contexts.ts';
import { listCases } from '../../server/src/cases/list-cases.ts';
import {
  confirmResolution,
  listChoices,
  proposeResolution,
  withdrawProposal,
  type ResolveContext,
} from '../../server/src/cases/resolve-case.ts';
import { liftSuspension, suspendBusiness } from '../../server/src/merchants/business-status.ts';
import { setFeePayer, setFeeRule, setLimit, setReserve } from '../../server/src/merchants/manage-rules.ts';
import { allNetworks } from '../../server/src/merchants/rules.ts';
import { PublicError } from '../../server/src/kit/public-error.ts';
import { findDecision, matchByPerson } from '../../server/src/payments/match-by-person.ts';
import { proposalsFor } from '../../server/src/payments/unmatched-receipts.ts';
import { listUnmatchedReceipts } from '../../server/src/receipts/receipt-store.ts';
import { choosePeriod } from '../../server/src/settlement/choose-period.ts';
import { settleSubAccounts } from '../../server/src/settlement/settle-sub-accounts.ts';
import { payoutScheduleOf, setPayoutSchedule } from '../../server/src/merchants/payout-schedule.ts';
import type { ReconciliationContext } from '../../server/src/reconciliation/context.ts';
import type { Choices } from './choices.ts';
import { asInstance, type Instance } from './instance.ts';
import type { AppOptions } from './machines.ts';
import type { Contradiction } from './contradictions.ts';
import { reconcile, reconcileStatements, type AccountStatement, type StatementsOptions } from './statements.ts';

// What an operator decides without the network's books.
const resolutions: ReadonlySet<string> = new Set(['accept', 'acknowledge', 'to_merchant']);
const casesMax = 50;

export interface OperatorsOptions {
  instance: Instance;
  app: AppOptions;
  /** Two of them. */
  operatorIds: readonly [string, string];
  note: (text: string) => void;
}

/** What a network's books say of the payment or payout that a case is about. */
export interface BooksEntry {
  caseId: string;
  resolution: 'paid' | 'not_paid' | 'reversed';
  /** Ours, which the network has too. */
  reference: string;
  /** What was paid, or reversed; null where the network was not paid, or did not pay. */
  reported: { transactionId: string; amountMinor: bigint } | null;
}

/** The operators, who resolve cases at an instance of their own. */
export class Operators {
  readonly #options: OperatorsOptions;
  readonly #context: ResolveContext;
  readonly #money: ReconciliationContext;
  /** The transactions of which an operator has decided whom they have paid. */
  readonly matchedKeys = new Set<string>();
  readonly #accounts: ReturnType<typeof createNetworks>['accounts'];

  constructor(options: OperatorsOptions) {
    this.#options = options;
    const address = createAddress(options.app.config);
    const { registry, accounts } = createNetworks(options.app, address);
    this.#accounts = accounts;
    this.#money = createMoneyContext({ ...options.app, planner: createPlanner(options.app) }, address, registry);
    this.#context = createCaseContext(this.#money);
  }

  /** Connects the accounts that are stored. */
  async connect(): Promise<void> {
    await this.#accounts.load();
  }

  /** One proposes what the books of the network say, and the other confirms it; they are refused once the network has reported it. */
  resolveByBooks({ caseId, resolution, reported }: BooksEntry): Promise<void> {
    const [proposer, other] = this.#options.operatorIds;
    const evidence = 'Books of the network, as it has shown them to us.';
    const proposed = { caseId, resolution, evidence, reported, operatorId: proposer };
    return asInstance(this.#options.instance, async () => {
      this.#options.note(`  case by the books: ${resolution}`);
      await this.#attempt('proposes', () => proposeResolution(this.#context, proposed));
      await this.#attempt('confirms', () => confirmResolution(this.#context, { caseId, operatorId: other }));
    });
  }

  /** One proposes; then both confirm, or one confirms while the other withdraws. */
  decide(choices: Choices): Promise<void> {
    return asInstance(this.#options.instance, () => this.#decide(choices));
  }

  async #decide(choices: Choices): Promise<void> {
    const [proposer, other] = this.#options.operatorIds;
    const cases = await listCases(this.#context.db, 'open', casesMax, null);
    // The books of the network decide on a reversal after a refund.
    const open = cases.filter(({ kind }) => kind !== 'partial_reversal');
    const found = open[choices.below(Math.max(1, open.length))];
    if (!found) return;
    const possible = (await listChoices(this.#context, found)).filter(
      ({ resolution, needsMoney, refusal }) => resolutions.has(resolution) && !needsMoney && refusal === null,
    );
    const choice = possible[choices.below(Math.max(1, possible.length))];
    if (!choice) return;
    const { resolution } = choice;
    const [caseId, evidence] = [found.id, 'Statement of the network, 20 November.'];
    this.#options.note(`  case ${found.kind}: ${resolution}`);
    const proposed = { caseId, resolution, evidence, reported: null, operatorId: proposer };
    await this.#attempt('proposes', () => proposeResolution(this.#context, proposed));
    const confirm = () => confirmResolution(this.#context, { caseId, operatorId: other });
    const withdraw = () => withdrawProposal(this.#context, { caseId, operatorId: proposer });
    await Promise.all([
      this.#attempt('confirms', confirm),
      this.#attempt('decides too', choices.below(2) === 0 ? confirm : withdraw),
    ]);
  }

  /** New fees, limits or reserves of a merchant; existing payments and transfers keep theirs. */
  changeRules(merchantId: string, choices: Choices): Promise<unknown> {
    const { db } = this.#context;
    const [owner, percentHundredths] = [{ merchantId }, BigInt(choices.below(1_000))];
    const fee = { percentHundredths, fixedMinor: BigInt(choices.below(200)), minimumMinor: 0n, maximumMinor: null };
    const changes = [
      () => setFeeRule(db, owner, { operation: 'collection', network: allNetworks, ...fee }),
      () => setFeeRule(db, owner, { operation: 'transfer', network: allNetworks, ...fee }),
      () => setFeePayer(db, merchantId, choices.pick(['business', 'customer'])),
      () => setLimit(db, owner, { kind: 'largest', amountMinor: BigInt(5_000 + choices.below(30_000)) }),
      () => setReserve(db, owner, { percentHundredths, hours: BigInt(1 + choices.below(9)), newForDays: null }),
    ] as const;
    return asInstance(this.#options.instance, () => this.#attempt('changes rules', choices.pick(changes)));
  }

  /** The command `settlement run`: pays out every sub-account that has enough, once in a period. */
  settle(merchantId: string): Promise<unknown> {
    const { db, clock } = this.#money;
    return asInstance(this.#options.instance, () =>
      this.#attempt('settles', async () => {
        const merchant = await this.#money.merchants.byId(merchantId);
        if (!merchant) throw new Error('there is no such merchant');
        const period = choosePeriod(await payoutScheduleOf(db, merchantId), { day: undefined, now: clock.now() });
        await settleSubAccounts(this.#money, { merchant, period, retriesRefused: true });
      }),
    );
  }

  schedulePayouts(merchantId: string, choices: Choices): Promise<unknown> {
    const { db } = this.#money;
    const schedule = choices.pick(['daily', 'daily', 'daily', 'weekly', 'manual'] as const);
    return asInstance(this.#options.instance, () =>
      this.#attempt(`schedules payouts: ${schedule}`, () =>
        db.withTransaction((tx) => setPayoutSchedule(tx, merchantId, schedule)),
      ),
    );
  }

  /** For some seconds, in which the business begins nothing. */
  suspend(merchantId: string): Promise<void> {
    return asInstance(this.#options.instance, async () => {
      const { db, clock } = this.#context;
      const merchant = await this.#money.merchants.byId(merchantId);
      if (!merchant) throw new Error('there is no such merchant');
      const { businessId } = merchant;
      await this.#attempt('suspends', () => db.withTransaction((tx) => suspendBusiness(tx, { clock }, businessId)));
      await clock.sleep(5_000);
      await this.#attempt('lifts', () => db.withTransaction((tx) => liftSuspension(tx, businessId)));
    });
  }

  /** The command `receipts match`: number and amount propose a payment, and an operator believes them. */
  matchReceipt(merchantId: string, choices: Choices): Promise<unknown> {
    const { db, lists } = this.#money;
    return asInstance(this.#options.instance, () =>
      this.#attempt('matches a receipt', async () => {
        const page = { limit: casesMax, offset: 0, before: null };
        const { rows } = await listUnmatchedReceipts(lists, merchantId, page, {});
        const receipt = rows[choices.below(Math.max(1, rows.length))];
        const proposed = receipt ? await proposalsFor(db, receipt) : [];
        const proposal = proposed[choices.below(Math.max(1, proposed.length))];
        if (!receipt || !proposal) return;
        this.matchedKeys.add(receipt.transactionKey);
        const named = { receiptId: receipt.id, payment: proposal.charge.transactionReference };
        await matchByPerson(this.#money, await findDecision(db, merchantId, named), () => {});
      }),
    );
  }

  /** An operator imports the statement of one account, and reconciles its days. */
  importStatement(statement: AccountStatement): Promise<void> {
    return asInstance(this.#options.instance, () => reconcile(this.#money, statement));
  }

  reconcile(options: StatementsOptions): Promise<Contradiction[]> {
    return asInstance(this.#options.instance, () => reconcileStatements(this.#money, options));
  }

  #attempt(what: string, act: () => Promise<unknown>): Promise<unknown> {
    return attempt(this.#options.note, what, act);
  }
}

/** Refusals are part of the story, as are faults of the database; undefined then. */
export async function attempt<Result>(
  note: (text: string) => void,
  what: string,
  act: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    const result = await act();
    note(`  operator ${what}`);
    return result;
  } catch (error) {
    if (!(error instanceof PublicError)) throw error;
    note(`  operator ${what}: ${error.code}`);
    return undefined;
  }
}
