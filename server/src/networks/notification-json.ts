import type { ProviderNotification } from './contract.ts';

// JSON knows no bigint; amounts travel as `{"bigint": "450"}`, which no connector's own text looks like.
interface WrittenBigint {
  bigint: string;
}

/** What a callback said, as text that keeps amounts exactly. */
export function writeNotifications(notifications: readonly ProviderNotification[]): string {
  return JSON.stringify(notifications.map(toStored), (_name, value: unknown) =>
    typeof value === 'bigint' ? ({ bigint: value.toString() } satisfies WrittenBigint) : value,
  );
}

export function readNotifications(text: string): ProviderNotification[] {
  const written = JSON.parse(text, (_name, value: unknown) =>
    isWrittenBigint(value) ? BigInt(value.bigint) : value,
  ) as StoredNotification[];
  // What was stored before there were payouts does not say what it is about.
  return written.map(fromStored);
}

/** As it stands in `network_inbox`: rows outlive a release, so the stored names stay as they were first written. */ interface StoredNotification {
  operation?: ProviderNotification['operation'];
  reference: string;
  answer: { receipt?: unknown; [key: string]: unknown };
}
function toStored({ response, ...about }: ProviderNotification): StoredNotification {
  if (!('providerTransaction' in response)) return { ...about, answer: response };
  const { providerTransaction, ...rest } = response;
  return { ...about, answer: { ...rest, receipt: providerTransaction } };
}
function fromStored({
  answer: { receipt, ...rest },
  operation = 'collection',
  ...about
}: StoredNotification): ProviderNotification {
  const response = receipt === undefined ? rest : { ...rest, providerTransaction: receipt };
  return { ...about, operation, response } as ProviderNotification;
}
function isWrittenBigint(value: unknown): value is WrittenBigint {
  return typeof value === 'object' && value !== null && 'bigint' in value && typeof value.bigint === 'string';
}
