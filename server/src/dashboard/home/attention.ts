import { totalMax } from '../../api/pagination.ts';
import { listOpenCasesOfMerchant } from '../../cases/list-cases.ts';
import type { Case } from '../../cases/case.ts';
import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { readBalances } from '../../ledger/balances.ts';
import { networkName } from '../../networks/known-networks.ts';
import { summarizeBreakers } from '../../networks/payout-breakers.ts';
import { icon } from '../../pages/icons.ts';
import { foreignText } from '../../pages/page-text.ts';
import { findTransaction } from '../../payments/find-payment.ts';
import { listReceiptsToMatch } from '../../payments/unmatched-receipts.ts';
import { settledAccount } from '../../sub-accounts/ledger-accounts.ts';
import { listSubAccountsWithoutNetwork } from '../../sub-accounts/manage-sub-accounts.ts';
import { findTransferById } from '../../transfers/find-transfer.ts';
import { listWaitingRequests } from '../../transfers/transfer-requests.ts';
import { endpointWithHealthSchema } from '../../webhooks/wire-schemas.ts';
import { timeInSentence } from '../../portal/patterns/texts.ts';
import { mayBelongPath } from '../receipts/receipt-list.ts';
import type { Visit } from '../visit.ts';

/** Something that somebody has to look at. */
interface Concern {
  text: Html;
  /** Below the visit's base: where to do something about it; nothing where the text has its own links. */
  href?: string;
  action?: string;
  /** Whether the people of the business have to act; the rest is being worked on. */
  isOurs: boolean;
}

// More of a kind are on the page that the lines lead to.
const linesMax = 3;

/** What needs attention, one line each, what the business itself must do first. */
export async function attention(visit: Visit, owedMinor: bigint): Promise<Html> {
  const concerns = [
    ...debtConcern(owedMinor),
    ...(visit.may('endpoints.manage').isAllowed || visit.may('requests.read').isAllowed
      ? await endpointConcerns(visit)
      : []),
    ...(await receiptConcern(visit)),
    ...(await requestConcerns(visit)),
    ...(await subAccountConcerns(visit)),
    ...(await networkConcerns(visit)),
    ...(await caseConcerns(visit)),
  ].toSorted((one, other) => Number(other.isOurs) - Number(one.isOurs));
  if (concerns.length === 0) return html``;
  return html`<section aria-labelledby="attention"><h2 id="attention" class="unseen">Needs attention</h2><ul class="attention">${concerns.map(
    ({ text, href, action, isOurs }) =>
      html`<li class="notice ${isOurs ? 'bad' : 'wait'}">${icon(isOurs ? 'warning' : 'clock')}<p>${text}${href !== undefined && html` <a href="${visit.base}${href}">${action}</a>`}</p></li>`,
  )}</ul></section>`;
}

function debtConcern(owedMinor: bigint): Concern[] {
  if (owedMinor === 0n) return [];
  const text = html`You owe ${formatAmount(owedMinor)}, because a payment was taken back. Your next payments repay it first; until then transfers wait.`;
  return [{ text, href: '/balance', action: 'See the balance', isOurs: true }];
}

/** Receipts on which somebody has to decide. */
async function receiptConcern({ money, merchant, now, takesReceipts }: Visit): Promise<Concern[]> {
  if (!takesReceipts) return [];
  const newest = { limit: 1, offset: 0, before: null };
  const { total } = await listReceiptsToMatch(money.lists, merchant.id, newest, { mayBelong: true, now });
  if (total === 0) return [];
  const count = total > totalMax ? `More than ${totalMax}` : String(total);
  const text = `${count} ${total === 1 ? 'receipt waits' : 'receipts wait'}: money came to your number, and no payment has it yet.`;
  return [{ text: html`${text}`, href: mayBelongPath, action: 'See the receipts', isOurs: true }];
}

/** Payouts that wait for a second person. */
async function requestConcerns({ money, merchant, now, may }: Visit): Promise<Concern[]> {
  if (!may('transfers.create').isAllowed) return [];
  const [newest, ...others] = await listWaitingRequests(money.db, merchant.id, { now });
  if (!newest) return [];
  const [href, action] = ['/transfers/requests', others.length === 0 ? 'Look at it' : 'Look at them'];
  const name = foreignText(newest.requestedByName);
  const text =
    others.length === 0
      ? html`${name} asks to pay out ${formatAmount(newest.amountMinor)}: a second person has to approve it.`
      : html`${others.length + 1} payouts wait until a second person approves them.`;
  return [{ text, href, action, isOurs: true }];
}

async function endpointConcerns({ api, now }: Visit): Promise<Concern[]> {
  const { data } = await api.list('listWebhookEndpoints', endpointWithHealthSchema);
  return data
    .flatMap(({ id, url, status, disabled_reason: reason, health }): Concern[] => {
      const href = `/endpoints/${id}`;
      const name = foreignText(hostOf(url));
      if (status === 'disabled') {
        if (reason === null || reason === 'manual') return [];
        const text = html`The endpoint ${name} was switched off, because deliveries to it failed.`;
        return [{ text, href, action: 'Mend it and switch it on', isOurs: true }];
      }
      if (health.failing_since === null) return [];
      const text = html`The endpoint ${name} has failed since ${timeInSentence(new Date(health.failing_since), now)}.`;
      return [{ text, href, action: 'See why', isOurs: true }];
    })
    .slice(0, linesMax);
}

function hostOf(url: string | null): string {
  return url !== null && URL.canParse(url) ? new URL(url).host : 'for callback URLs';
}

/** Sub-accounts with money that no connected network can pay out. */
async function subAccountConcerns({ money, merchant }: Visit): Promise<Concern[]> {
  const networks = money.networks.payingOut(merchant).map(({ capabilities }) => capabilities.network);
  const found = await listSubAccountsWithoutNetwork(money.db, merchant.id, { networks, rowsMax: 20 });
  const paused = new Set(money.networks.pausedPayouts(merchant));
  const { id: merchantId, currency } = merchant;
  const accounts = found.map(({ id }) => settledAccount(id));
  const balances = await readBalances(money.db, { merchantId, currency, accounts });
  return found
    .flatMap(({ id, name, settlementCode }): Concern[] => {
      const amountMinor = balances.get(settledAccount(id)) ?? 0n;
      if (amountMinor <= 0n) return [];
      const has = html`${foreignText(name)} has ${formatAmount(amountMinor)}`;
      const href = `/sub-accounts/${id}`;
      if (paused.has(settlementCode)) {
        const text = html`${has}, which waits while the operator has paused payouts to ${networkName(settlementCode)}.`;
        return [{ text, href, action: 'See it', isOurs: false }];
      }
      const text = html`${has} and no number that money can be sent to.`;
      return [{ text, href, action: 'Give it a number', isOurs: true }];
    })
    .slice(0, linesMax);
}

async function networkConcerns({ money, testMode, now }: Visit): Promise<Concern[]> {
  const { networks } = await summarizeBreakers(money);
  return networks.flatMap(({ capabilities, open }): Concern[] => {
    if (open === null || capabilities.testMode !== testMode) return [];
    const text = html`${capabilities.displayName} has taken no payouts since ${timeInSentence(open.openedAt, now)}. What you send is held and follows by itself.`;
    return [{ text, href: '/transfers?status=pending', action: 'See what waits', isOurs: false }];
  });
}

async function caseConcerns(visit: Visit): Promise<Concern[]> {
  const cases = await listOpenCasesOfMerchant(visit.money.db, visit.merchant.id, linesMax + 1);
  // What is owed has a line of its own, and so have the receipts on which the business decides.
  const checked = cases
    .filter(({ kind }) => kind !== 'merchant_owes' && kind !== 'receipt_contested')
    .slice(0, linesMax);
  const [first, ...others] = await Promise.all(
    checked.map(async (one) => ({ ...one, ...(await subjectOf(visit, one)) })),
  );
  if (!first) return [];
  if (others.length === 0) {
    const { amountMinor, createdAt, href, action, what } = first;
    const text = html`${formatAmount(amountMinor)} of ${what} is being checked, since ${timeInSentence(createdAt, visit.now)}. The operator decides, and nothing is lost.`;
    return [{ text, href, action, isOurs: false }];
  }
  const amounts = [first, ...others].map(
    ({ amountMinor, href }, index) =>
      html`${index > 0 && ', '}<a href="${visit.base}${href}">${formatAmount(amountMinor)}</a>`,
  );
  const text = html`Some money is being checked. The operator decides, and nothing is lost: ${amounts}.`;
  return [{ text, isOurs: false }];
}

async function subjectOf(
  { money: { db }, merchant }: Visit,
  { subjectType, subjectId }: Case,
): Promise<{ href: string; action: string; what: string }> {
  if (subjectType === 'charge') {
    const found = await findTransaction(db, merchant.id, subjectId);
    const href = found ? `/payments/${found.intent.id}` : '/payments';
    return { href, action: 'See the payment', what: 'a payment' };
  }
  const transfer = subjectType === 'transfer' ? await findTransferById(db, merchant.id, subjectId) : undefined;
  if (!transfer) return { href: '/balance', action: 'See the balance', what: 'your money' };
  if (transfer.kind === 'refund') {
    return { href: `/refunds/${subjectId}`, action: 'See the refund', what: 'a refund' };
  }
  return { href: `/transfers/${subjectId}`, action: 'See the transfer', what: 'a transfer' };
}
