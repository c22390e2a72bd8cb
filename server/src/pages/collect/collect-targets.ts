import type { Transaction, TransactionCause } from '../../kit/db.ts';
import type { PageLimit } from '../../links/page-limit.ts';
import { payAtTerminal } from '../../links/pay-at-terminal.ts';
import { findLinkByToken, payLink } from '../../links/pay-link.ts';
import { linkState } from '../../links/payment-link.ts';
import type { PaymentLink } from '../../links/payment-link.ts';
import { collectionFee } from '../../merchants/fees.ts';
import type { CollectionFee } from '../../merchants/fees.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import type { NetworkRegistry } from '../../networks/registry.ts';
import type { PaymentContext } from '../../payments/context.ts';
import type { Intent } from '../../payments/intent.ts';
import { findTerminalByAddress } from '../../terminals/find-by-code.ts';
import type { GuessLimit } from '../../terminals/guess-limit.ts';
import { scannedPath, typedPath } from '../../terminals/terminal-address.ts';
import type { TerminalAddressSettings, VirtualTerminal } from '../../terminals/terminal.ts';
import type { ClosedReason, CollectPageModel } from './collect-page.ts';

type CollectContext = PaymentContext & {
  settings: TerminalAddressSettings;
  pageLimit: PageLimit;
  guessLimit: GuessLimit;
};

/** The link or counter behind a page: what the page shows, or why it is closed, and the payment that its form creates. */
export interface CollectTarget {
  model: Omit<CollectPageModel, 'language' | 'formProof' | 'refused'>;
  closed: ClosedReason | null;
  /** Whether the payer must first confirm that this is the right counter. */
  unconfirmed: boolean;
  /** Creates the payment and returns the path of its page. Throws AppErrors worded for the payer. */
  pay(sent: { amountMinor: bigint; answers: readonly string[] }, cause: TransactionCause): Promise<string>;
}

/** Finds links and counters by their URLs; undefined for an unknown one. */
export interface CollectTargets {
  findLink(token: string): Promise<CollectTarget | undefined>;
  /**
   * By the part of the path after `/pos/` or what was typed: a code, with or without its check. Throws AppError `rate_limited`
   * after too many guessed codes, from `clientAddress` or in all.
   */
  findCounter(address: string, clientAddress: string): Promise<CollectTarget | undefined>;
}

export function createCollectTargets(context: CollectContext): CollectTargets {
  return {
    findLink: (token) => findLinkTarget(context, token),
    findCounter: (address, clientAddress) => findCounterTarget(context, address, clientAddress),
  };
}

/** `owner` is the link or counter, whose own rate limit takes precedence over its merchant's. */
async function startPayment(
  context: CollectContext,
  { merchant, owner }: { merchant: Merchant; owner: Pick<PaymentLink, 'merchantId' | 'id' | 'rateLimit'> },
  cause: TransactionCause,
  create: (tx: Transaction) => Promise<Intent>,
): Promise<string> {
  const { merchantId, id } = owner;
  await context.pageLimit({ merchantId, id, paymentsPerSecond: owner.rateLimit ?? merchant.rateLimitPages });
  const { checkoutToken } = await context.db.withTransaction(create, cause);
  return `/pay/${checkoutToken}`;
}

async function findLinkTarget(context: CollectContext, token: string): Promise<CollectTarget | undefined> {
  const found = await findLinkByToken(context.db, context.merchants, token);
  if (!found) return undefined;
  const { merchant, link } = found;
  return {
    model: {
      ...modelOf(context, merchant, `/link/${link.token}`, link.minAmountMinor),
      kind: 'link',
      heading: link.title,
      description: link.description,
      amountMinor: link.amountMinor,
      feeMinor: link.amountMinor === null ? 0n : feeOfCustomer(merchant.collectionFee, link.amountMinor),
      customFields: link.customFields,
    },
    closed: closedLink(link) ?? closedShop(context.networks, merchant),
    unconfirmed: false,
    pay: ({ amountMinor, answers }, cause) =>
      startPayment(context, { merchant, owner: link }, cause, (tx) =>
        payLink(tx, context, merchant, link, {
          amountMinor,
          customFieldsValues: Object.fromEntries(
            link.customFields.map((label, index) => [label, answers[index] ?? '']),
          ),
        }),
      ),
  };
}

/** What the customer pays on top of the amount; 0 if the business pays the fee. */
function feeOfCustomer(rule: CollectionFee, amountMinor: bigint): bigint {
  return rule.payer === 'customer' ? collectionFee(rule, amountMinor) : 0n;
}

/** Without a connected network, as in live before the operator connects one, nobody can pay. */
function closedShop(networks: NetworkRegistry, { testMode }: Merchant): ClosedReason | null {
  return networks.list(testMode).length > 0 ? null : 'not-connected';
}

function closedLink(link: PaymentLink): ClosedReason | null {
  const state = linkState(link);
  return state === 'active' ? null : `link-${state}`;
}

async function findCounterTarget(
  context: CollectContext,
  address: string,
  clientAddress: string,
): Promise<CollectTarget | undefined> {
  const found = await findTerminalByAddress(context.db, context.settings.terminalKey, address, (lookUp) =>
    context.guessLimit(clientAddress, lookUp),
  );
  const merchant = found && (await context.merchants.byId(found.terminal.merchantId));
  if (!found || !merchant) return undefined;
  const { terminal, confirmed } = found;
  const path = confirmed ? scannedPath(context.settings.terminalKey, terminal.code) : typedPath(terminal.code);
  return {
    model: {
      ...modelOf(context, merchant, path, null),
      kind: 'counter',
      heading: terminal.name,
      description: null,
      amountMinor: null,
      feeMinor: 0n,
      customFields: [],
    },
    closed: closedCounter(terminal) ?? closedShop(context.networks, merchant),
    unconfirmed: !confirmed,
    pay: ({ amountMinor }, cause) =>
      startPayment(context, { merchant, owner: terminal }, cause, (tx) =>
        payAtTerminal(tx, context, merchant, terminal, { amountMinor }),
      ),
  };
}

function closedCounter({ active, deletedAt }: VirtualTerminal): ClosedReason | null {
  if (deletedAt !== null) return 'counter-deleted';
  return active ? null : 'counter-closed';
}

function modelOf(
  { settings }: CollectContext,
  { name: merchantName, testMode }: Merchant,
  path: string,
  minAmountMinor: bigint | null,
) {
  const bounds = { minMinor: minAmountMinor ?? settings.amountMinMinor, maxMinor: settings.amountMaxMinor };
  return { merchantName, testMode, path, minAmountMinor, bounds };
}
