import type { Transaction, TransactionCause } from '../../kit/db.ts';
import { InFlight } from '../../kit/in-flight.ts';
import type { PageLimit } from '../../links/page-limit.ts';
import { payOnce } from '../../links/pay-once.ts';
import { payAtTerminal } from '../../links/pay-at-terminal.ts';
import { findLinkByToken, payLink } from '../../links/pay-link.ts';
import { linkState, type PaymentLink } from '../../links/payment-link.ts';
import { collectionFee, type CollectionFee } from '../../merchants/fees.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import type { NetworkRegistry } from '../../networks/registry.ts';
import type { Checkout } from '../../payments/checkout.ts';
import type { CheckoutNetwork, CheckoutView } from '../../payments/checkout-view.ts';
import type { PaymentContext } from '../../payments/context.ts';
import type { Intent } from '../../payments/intent.ts';
import { networksToChoose } from '../../payments/networks-to-choose.ts';
import { findTerminalByAddress } from '../../terminals/find-by-code.ts';
import type { GuessLimit } from '../../terminals/guess-limit.ts';
import { scannedPath, typedPath } from '../../terminals/terminal-address.ts';
import type { TerminalAddressSettings, VirtualTerminal } from '../../terminals/terminal.ts';
import type { Choice } from '../checkout/forms.ts';
import { pageAppearance } from '../merchant-appearance.ts';
import { hashOfForm } from './form-id.ts';
import type { ClosedReason, CollectPageModel } from './collect-page.ts';

type CollectContext = PaymentContext & {
  settings: TerminalAddressSettings;
  pageLimit: PageLimit;
  guessLimit: GuessLimit;
  checkout: Pick<Checkout, 'started'>;
  presses: InFlight<Intent>;
};

/** The link or counter behind a page: what the page shows, or why it is closed, and the payment that its form creates. */
export interface CollectTarget {
  model: Omit<CollectPageModel, 'language' | 'networkDetails' | 'publicUrl' | 'formProof' | 'formId' | 'refused'>;
  closed: ClosedReason | null;
  /** Whether the payer must first confirm that this is the right counter. */
  unconfirmed: boolean;
  /** Creates the payment, or finds the one that the same form has created. Throws AppErrors worded for the payer. */
  pay(sent: SentForm, cause: TransactionCause): Promise<StartedPayment>;
}

export interface SentForm {
  amountMinor: bigint;
  /** What the page of a fixed amount said that the payer pays, with the fee; null for a form of an earlier release or an open amount. */
  shownTotalMinor: bigint | null;
  answers: readonly string[];
  /** Null for a form of an earlier release. */
  formId: string | null;
  /** The network and number of the first attempt; null if the payer chooses them on the payment's page. */
  choice: Choice | null;
}

export interface StartedPayment {
  /** The path of its page. */
  path: string;
  /** The payment, once its first attempt has started if it has one. */
  view(): Promise<CheckoutView>;
}

export type CollectTargets = ReturnType<typeof createCollectTargets>;

/** Finds links and counters by their URLs; undefined for an unknown one. */
export function createCollectTargets(pageContext: Omit<CollectContext, 'presses'>) {
  const context = { ...pageContext, presses: new InFlight<Intent>() };
  return {
    findLink: (token: string) => findLinkTarget(context, token),
    findCounter: (address: string, clientAddress: string) => findCounterTarget(context, address, clientAddress),
  };
}

interface NewPagePayment {
  merchant: Merchant;
  /** The link or counter, whose own rate limit takes precedence over its merchant's. */
  owner: Pick<PaymentLink, 'merchantId' | 'id' | 'rateLimit'>;
  sent: SentForm;
  cause: TransactionCause;
  create: (tx: Transaction, formHash: string | null) => Promise<Intent>;
}

async function startPayment(
  context: CollectContext,
  { merchant, owner, sent, cause, create }: NewPagePayment,
): Promise<StartedPayment> {
  const { merchantId, id } = owner;
  const { formId, choice } = sent;
  const formHash = formId === null ? null : hashOfForm({ ...sent, ownerId: id, formId });
  const pay = () =>
    payOnce(context, {
      form: formHash === null ? null : { merchantId, formHash },
      cause,
      countPayment: () =>
        context.pageLimit({ merchantId, id, paymentsPerSecond: owner.rateLimit ?? merchant.rateLimitPages }),
      create: (tx) => create(tx, formHash),
    });
  // Presses that arrive together count once against the limit of the page.
  const { checkoutToken: token } = await (formHash === null
    ? pay()
    : context.presses.share(JSON.stringify([merchantId, formHash, choice]), pay));
  return { path: `/pay/${token}`, view: () => context.checkout.started(token) };
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
      networks: link.amountMinor === null ? [] : networksFor(context.networks, merchant, link.amountMinor, link),
      customFields: link.customFields,
    },
    closed: closedLink(link) ?? closedShop(context.networks, merchant),
    unconfirmed: false,
    pay: (sent, cause) => {
      const { amountMinor, shownTotalMinor, answers, choice } = sent;
      const customFieldsValues = Object.fromEntries(
        link.customFields.map((label, index) => [label, answers[index] ?? '']),
      );
      const create = (tx: Transaction, formHash: string | null) =>
        payLink(tx, context, merchant, link, { amountMinor, shownTotalMinor, customFieldsValues, choice, formHash });
      return startPayment(context, { merchant, owner: link, sent, cause, create });
    },
  };
}

/** What the customer pays on top of the amount; 0 if the business pays the fee. */
function feeOfCustomer(rule: CollectionFee, amountMinor: bigint): bigint {
  return rule.payer === 'customer' ? collectionFee(rule, amountMinor) : 0n;
}

/** The networks that take what a customer pays for this amount. */
function networksFor(
  networks: NetworkRegistry,
  merchant: Merchant,
  amountMinor: bigint,
  { subAccountId, subAccountGroupId }: Pick<PaymentLink, 'subAccountId' | 'subAccountGroupId'>,
): CheckoutNetwork[] {
  const { collectionFee: rule } = merchant;
  const feeMinor = collectionFee(rule, amountMinor);
  const split = { subAccountId, subAccountGroupId };
  const payment = { amountMinor, feeMinor, feePayer: rule.payer, paymentMethods: null, ...split };
  return networksToChoose(networks, merchant, payment);
}

/** Without a connected network, as in live before the operator connects one, nobody can pay. */
function closedShop(networks: NetworkRegistry, merchant: Merchant): ClosedReason | null {
  return networks.collecting(merchant).length > 0 ? null : 'not-connected';
}

function closedLink(link: PaymentLink): ClosedReason | null {
  const state = linkState(link);
  return state === 'active' ? null : `link-${state}`;
}

/**
 * By the part of the path after `/pos/` or what was typed: a code, with or without its check. Throws AppError `rate_limited`
 * after too many guessed codes, from `clientAddress` or in all.
 */
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
      networks: [],
      customFields: [],
    },
    closed: closedCounter(terminal) ?? closedShop(context.networks, merchant),
    unconfirmed: !confirmed,
    pay: (sent, cause) => {
      const create = (tx: Transaction, formHash: string | null) =>
        payAtTerminal(tx, context, merchant, terminal, { amountMinor: sent.amountMinor, formHash });
      return startPayment(context, { merchant, owner: terminal, sent, cause, create });
    },
  };
}

function closedCounter({ active, deletedAt }: VirtualTerminal): ClosedReason | null {
  if (deletedAt !== null) return 'counter-deleted';
  return active ? null : 'counter-closed';
}

function modelOf({ settings }: CollectContext, merchant: Merchant, path: string, minAmountMinor: bigint | null) {
  const { name: merchantName, testMode, collectionFee: feeRule } = merchant;
  const appearance = pageAppearance(merchant);
  const bounds = { minMinor: minAmountMinor ?? settings.amountMinMinor, maxMinor: settings.amountMaxMinor };
  return { merchantName, appearance, testMode, feeRule, path, minAmountMinor, bounds };
}
