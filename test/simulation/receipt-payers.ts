import { Browser } from './browser.ts';
import { transactionKeyOf } from '../../server/src/receipts/receipt.ts';
import type { Choices } from './choices.ts';
import type { PageForm } from './page.ts';
import type { PayersOptions } from './payers.ts';
import type { SentMoney, Till } from './till.ts';

const patienceRounds = 12;
const pauseMs = 2_000;
const lateMs = 10 * 60_000;
const idsTriedMax = 3;

/** An id that a payer has typed and that was not refused then. */
export interface TypedId {
  path: string;
  key: string;
}

/** A payment by receipt that a merchant has begun, whose payer has its page. */
export interface ReceiptPayment {
  path: string;
  amountMinor: bigint;
}

/** People who send money to the shop's own number, and type on the page what the network's message says. */
export class ReceiptPayers {
  /** In the order in which they were typed. */
  readonly typed: TypedId[] = [];
  readonly paths = new Set<string>();
  readonly #options: PayersOptions & { till: Till };
  readonly #browser: Browser;

  constructor(options: PayersOptions & { till: Till }) {
    this.#options = options;
    this.#browser = new Browser(options);
  }

  /** The payer sends what the page says, and now and then something else. */
  async pay({ path, amountMinor }: ReceiptPayment, choices: Choices): Promise<void> {
    if (!(await this.#untilIdRequested(path))) return;
    const { till } = this.#options;
    const money = till.receive(choices.below(8) === 0 ? amountMinor + 100n : amountMinor);
    const forwarded = choices.pick(['before', 'after', 'after', 'twice', 'late', 'never'] as const);
    if (forwarded === 'before' || forwarded === 'twice') void till.forward(money);
    if (choices.below(5) === 0) await this.type(path, 'T_QKTYPO1', choices);
    await this.type(path, asTyped(money.transactionId, choices), choices);
    if (forwarded === 'after' || forwarded === 'twice') void till.forward(money);
    if (forwarded === 'late') void this.#forwardLater(money);
    if (choices.below(6) === 0) till.reverse(money);
  }

  /** One has sent money for one of the payments, and somebody types its id for the other at the same time. */
  async race(payments: readonly ReceiptPayment[], choices: Choices): Promise<void> {
    const isRequested = await Promise.all(payments.map(({ path }) => this.#untilIdRequested(path)));
    const [first] = payments;
    if (!first || isRequested.includes(false)) return;
    const { till } = this.#options;
    const money = till.receive(first.amountMinor);
    const message = till.forward(money);
    if (choices.below(2) === 0) await message;
    await Promise.all(payments.map(({ path }) => this.type(path, money.transactionId, choices)));
  }

  /** Somebody has sent nothing, and types ids of what others have sent, or guesses. */
  async take({ path }: ReceiptPayment, choices: Choices): Promise<void> {
    if (!(await this.#untilIdRequested(path))) return;
    const { sent } = this.#options.till;
    for (let tries = 0; tries < idsTriedMax; tries += 1) {
      const known = sent[choices.below(Math.max(1, sent.length))];
      await this.type(path, known?.transactionId ?? `T_QKGUESS${tries}`, choices);
    }
  }

  /** Whoever has the phone forges a message and types its id; somebody else forges one and has no key. */
  async forge({ path, amountMinor }: ReceiptPayment, choices: Choices): Promise<void> {
    if (!(await this.#untilIdRequested(path))) return;
    const { till } = this.#options;
    const money = till.forge(amountMinor);
    const hasKey = choices.below(2) === 0;
    await till.forward(money, hasKey ? undefined : 'key of somebody else 9c');
    await this.type(path, money.transactionId, choices);
  }

  /** The payer sends what the page says, and the phone has forwarded the message when this returns; null where no page asks for an id. */
  async send({ path, amountMinor }: ReceiptPayment): Promise<SentMoney | null> {
    if (!(await this.#untilIdRequested(path))) return null;
    const { till } = this.#options;
    const money = till.receive(amountMinor);
    await till.forward(money);
    return money;
  }

  async #forwardLater(money: SentMoney): Promise<void> {
    await this.#options.clock.ofMachine().sleep(lateMs);
    await this.#options.till.forward(money);
  }

  /** Whether the page asks for an id at last. */
  async #untilIdRequested(path: string): Promise<boolean> {
    this.paths.add(path);
    for (let round = 0; round < patienceRounds; round += 1) {
      if ((await this.#formAt(path)) !== undefined) return true;
      await this.#options.clock.ofMachine().sleep(pauseMs);
    }
    this.#options.note('  a payer is not asked for an id');
    return false;
  }

  async #formAt(path: string): Promise<PageForm | undefined> {
    const { forms } = await this.#browser.open(path);
    return forms.find(({ action }) => action === `${path.split('?')[0]}/transaction-id`);
  }

  /** Once, or twice at once. In the place of an id that waits, by the page that corrects it. */
  async type(path: string, text: string, choices: Choices): Promise<void> {
    const form = (await this.#formAt(path)) ?? (await this.#formAt(`${path}?correct=1`));
    if (!form) return;
    const press = () => this.#browser.send(form, { transaction_id: text });
    const sent = await Promise.all(choices.below(3) === 0 ? [press(), press()] : [press()]);
    const key = transactionKeyOf(text);
    // A payment that has ended leads to its page as well.
    const isAccepted = key !== null && sent.some((one) => 'location' in one) && (await this.#isShown(path, key));
    if (isAccepted) this.typed.push({ path, key });
    this.#options.note(`  a payer types ${text}: ${isAccepted ? '' : 'not '}accepted`);
  }

  /** Whether the page says that the id is looked for. */
  async #isShown(path: string, key: string): Promise<boolean> {
    const { text } = await this.#browser.open(path);
    return text.includes(key) || text.includes(`.... ${key.slice(-4)}`);
  }
}

function asTyped(id: string, choices: Choices): string {
  return choices.pick([id, id, id.toLowerCase(), ` ${id.slice(0, 4)} ${id.slice(4)}`]);
}
