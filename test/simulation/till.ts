import { createHmac } from 'node:crypto';
import { createRailAccountContext } from '../../server/src/app/contexts.ts';
import type { Clock } from '../../server/src/kit/clock.ts';
import type { Database } from '../../server/src/kit/db.ts';
import { formatAmount } from '../../server/src/kit/money.ts';
import { updateReceiptConfirmAbove } from '../../server/src/merchants/receipt-limit.ts';
import type { Merchant } from '../../server/src/merchants/merchant.ts';
import type { StatementEntry } from '../../server/src/networks/statement.ts';
import { transactionKeyOf } from '../../server/src/receipts/receipt.ts';
import { addRailAccount } from '../../server/src/rail-accounts/manage-accounts.ts';
import type { OutgoingCall } from './calls.ts';
import { publicUrl } from './machines.ts';
import type { OwnAccountOptions } from './own-account.ts';
import type { Traffic } from './traffic.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** A number of the first merchant's own at Wave, which receives by receipts (docs/receipts.md). */
export const tillName = 'kairaba-till';
export const tillNetwork = 'wave';
const deviceKey = 'device-key-of-the-shop-31f7';
/** Above it, a line of the statement has to confirm a message. */
export const confirmAboveMinor = 10_000n;
// The applications that forward messages try for days.
const retryMs = 20_000;

/** Money that somebody has sent to the number, or of which a forged message says so. */
export interface SentMoney {
  transactionId: string;
  amountMinor: bigint;
  at: Date;
  /** Of the wallet, afterwards. */
  balanceMinor: bigint;
  isForged: boolean;
  /** When the network has taken it back; null if it has not. */
  reversedAt: Date | null;
}

export interface TillOptions {
  traffic: Traffic;
  clock: VirtualClock;
}

/** The number's own book at its network, and the phone that forwards the network's messages. */
export class Till {
  readonly sent: SentMoney[] = [];
  readonly #options: TillOptions;
  #lines: StatementEntry[] = [];
  #balanceMinor = 500_000n;
  #lastAtMs = 0;
  #toForward = 0;

  constructor(options: TillOptions) {
    this.#options = options;
  }

  /** Messages that no instance has accepted yet. */
  get toForward(): number {
    return this.#toForward;
  }

  /** What is in the statement, in the order in which it happened. */
  get statement(): readonly StatementEntry[] {
    return this.#lines;
  }

  find(key: string): SentMoney | undefined {
    return this.sent.find(({ transactionId }) => transactionKeyOf(transactionId) === key);
  }

  /** Somebody sends money to the number. */
  receive(amountMinor: bigint): SentMoney {
    this.#balanceMinor += amountMinor;
    const money = this.#noteSent(amountMinor, false);
    this.#addLine(money.transactionId, { at: money.at, amountMinor, originalTransactionId: null });
    return money;
  }

  /** Whoever has the phone makes up a message. */
  forge(amountMinor: bigint): SentMoney {
    return this.#noteSent(amountMinor, true);
  }

  /** The network takes money back. */
  reverse(money: SentMoney): void {
    if (money.isForged || money.reversedAt !== null) return;
    this.#balanceMinor -= money.amountMinor;
    money.reversedAt = this.#nextTime();
    const { transactionId, reversedAt: at } = money;
    const line = { at, amountMinor: -money.amountMinor, originalTransactionId: transactionId };
    this.#addLine(`${transactionId}R`, line);
  }

  /** The phone forwards the message until an instance has accepted it; one that somebody else has signed is refused. */
  async forward(money: SentMoney, key = deviceKey): Promise<void> {
    const { traffic, clock } = this.#options;
    const call = forwardedMessage(money, key);
    const isOurs = key === deviceKey;
    if (isOurs) this.#toForward += 1;
    for (;;) {
      const status = await traffic.carry(call).then(
        (response) => response.status,
        () => 0,
      );
      if (!isOurs && status > 0) traffic.forged.push(status);
      if (status === 200 || !isOurs) break;
      await clock.ofMachine().sleep(retryMs);
    }
    if (isOurs) this.#toForward -= 1;
  }

  #noteSent(amountMinor: bigint, isForged: boolean): SentMoney {
    const transactionId = `T_QK${String(this.sent.length + 1).padStart(4, '0')}X`;
    const [at, balanceMinor] = [this.#nextTime(), this.#balanceMinor];
    const money = { transactionId, amountMinor, at, balanceMinor, isForged, reversedAt: null };
    this.sent.push(money);
    return money;
  }

  /** No two at one time: the statement has an order. */
  #nextTime(): Date {
    this.#lastAtMs = Math.max(this.#options.clock.passedMs, this.#lastAtMs + 1);
    return new Date(this.#lastAtMs);
  }

  #addLine(
    transactionId: string,
    { at, amountMinor, originalTransactionId }: { at: Date; amountMinor: bigint; originalTransactionId: string | null },
  ): void {
    this.#lines.push({
      ...{ transactionId, kind: originalTransactionId === null ? 'collection' : 'collection_reversal' },
      ...{ status: 'completed', at, netMinor: amountMinor, grossMinor: amountMinor < 0n ? -amountMinor : amountMinor },
      ...{ feeMinor: 0n, currency: 'GMD', balanceMinor: this.#balanceMinor, reference: null, originalTransactionId },
      ...{ counterpartyNumber: null, counterpartyName: null },
    });
  }
}

/** As SMS Gateway for Android sends it. */
function forwardedMessage({ transactionId, amountMinor, balanceMinor, at }: SentMoney, key: string): OutgoingCall {
  const [amount, balance] = [amountMinor, balanceMinor].map((minor) => formatAmount(minor, { style: 'plain' }));
  const message = `You received D${amount} from Awa Ceesay (7001234). Transaction ID: ${transactionId}. New balance: D${balance}.`;
  const payload = { message, phoneNumber: 'Wave', receivedAt: at.toISOString() };
  const body = JSON.stringify({ event: 'sms:received', payload });
  const seconds = String(Math.floor(at.getTime() / 1_000));
  const signature = createHmac('sha256', key).update(body).update(seconds).digest('hex');
  return {
    ...{ method: 'POST', url: new URL(`/networks/${tillName}/messages`, publicUrl), body: Buffer.from(body) },
    headers: { 'content-type': 'application/json', 'x-signature': signature, 'x-timestamp': seconds },
  };
}

/** The operator connects the number, and the owner sets the amount above which a statement has to confirm messages. */
export async function connectTill(
  db: Database,
  { id, businessId }: Pick<Merchant, 'id' | 'businessId'>,
  { clock, secrets }: { clock: Clock; secrets: OwnAccountOptions['secrets'] },
): Promise<void> {
  const parts = { db, clock, secrets, config: { production: false }, notifier: { notify: () => {} } };
  const context = createRailAccountContext(parts);
  const fields = { network: tillNetwork, till: '7001234', holder: 'Kairaba Books', 'device-key': deviceKey };
  await db.withTransaction(async (tx) => {
    const account = { name: tillName, testMode: true, businessId, baseUrl: null, position: 1n };
    await addRailAccount(tx, context, { kind: 'receipts', ...account, fields });
    tx.send(updateReceiptConfirmAbove(id, confirmAboveMinor));
  });
}
