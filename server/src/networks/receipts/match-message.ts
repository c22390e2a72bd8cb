import { readAmount } from '../response-values.ts';

/** How one kind of a network's messages reads. */
export interface ReceiptTemplate {
  name: string;
  network: string;
  senders: readonly string[];
  confirmed: boolean;
  pattern: RegExp;
}

/** A network's message to the phone of a shop, as it was forwarded. */
export interface ReceivedMessage {
  network: string;
  /** As the phone shows it. GSM does not authenticate it: it rules out messages, and proves none. Null: not compared. */
  sender: string | null;
  text: string;
}

/** What a message says of the money that a shop has received. */
export interface Receipt {
  template: ReceiptTemplate;
  transactionId: string;
  amountMinor: bigint;
  /** As the message has it; null where it has none. */
  payerNumber: string | null;
  payerName: string | null;
  /** The wallet's balance after it: a gap shows that a message is missing. */
  balanceMinor: bigint | null;
  /** As the message has it, in the network's own form. */
  timeText: string | null;
  /** Each placeholder's text, for whoever writes a template. */
  fields: Readonly<Record<string, string>>;
}

// Ten parts of a long text message have 1,530 characters.
const textLengthMax = 1_530;

/** Reads a message by the first template that fits all of it; undefined where none does. Never throws. */
export function matchMessage(
  templates: readonly ReceiptTemplate[],
  { network, sender, text }: ReceivedMessage,
): Receipt | undefined {
  if (text.length > textLengthMax) return undefined;
  for (const template of templates) {
    if (template.network !== network || (sender !== null && !isSender(template, sender))) continue;
    const receipt = receiptOf(template, text);
    if (receipt) return receipt;
  }
  return undefined;
}

function isSender({ senders }: ReceiptTemplate, sender: string): boolean {
  return senders.some((name) => name.toLowerCase() === sender.trim().toLowerCase());
}

function receiptOf(template: ReceiptTemplate, text: string): Receipt | undefined {
  const groups = template.pattern.exec(text)?.groups;
  if (!groups) return undefined;
  const fields = Object.fromEntries(Object.entries(groups).filter(([, value]) => value !== undefined));
  const amountMinor = minorOf(fields['amount']);
  const transactionId = fields['transaction_id'];
  if (amountMinor === undefined || amountMinor === 0n || transactionId === undefined) return undefined;
  return {
    template,
    transactionId,
    amountMinor,
    payerNumber: fields['payer_number'] ?? null,
    payerName: plainText(fields['payer_name']),
    balanceMinor: minorOf(fields['balance']) ?? null,
    timeText: fields['time'] ?? null,
    fields,
  };
}

/** Payers choose their names: without what controls a terminal or turns the direction of what follows. */
function plainText(text: string | undefined): string | null {
  const plain = text?.replaceAll(/[\p{Cc}\p{Cf}]/gu, '').trim() ?? '';
  return plain === '' ? null : plain;
}

/** `1,250.00` and `1250` are 125,000 bututs. */
function minorOf(text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined;
  const minor = readAmount(text.replaceAll(',', '').replace(/^-/, ''));
  return minor !== undefined && text.startsWith('-') ? -minor : minor;
}
