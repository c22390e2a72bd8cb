import type { ProviderNotification, CallbackReading, Connector, NetworkHandles, NetworkResponse } from './contract.ts';
import { readableText, type StatementEntry, type StatementSource } from './statement.ts';
import { withWrappedCalls } from './wrapped-connector.ts';

// The longest id in the networks' documents has some forty characters; ids of version 7 have 36.
const idLengthMax = 128;
// For values that later calls need, such as a payment token or a payer's link, which browsers follow up to this length.
const handleLengthMax = 2_048;
const handlesMax = 16;

const idForm = new RegExp(`^[0-9A-Za-z][0-9A-Za-z._:/+=@#~-]{0,${idLengthMax - 1}}$`);
const handleForm = new RegExp(`^[\\x21-\\x7e]{1,${handleLengthMax}}$`);

/**
 * Whether a text can be an id or a reference of a network. Ids settle money, are stored for ever, shown to merchants and
 * logged, so only letters, digits and common separators pass, up to a length that is enough for every network.
 */
export function isNetworkId(text: string): boolean {
  return idForm.test(text);
}

/**
 * Wraps a connector so that the ids in its responses and callbacks are always checked. A response with an invalid id is
 * `unknown`, and is looked up; a callback with an invalid reference is malformed.
 */
export function withCheckedIds(connector: Connector): Connector {
  const { statements } = connector;
  return {
    ...withWrappedCalls(connector, (_purpose, call) => async (request) => checked(await call(request))),
    ...(statements && { statements: checkedStatements(statements) }),
    readCallback: (callback) => checkedReading(connector.readCallback(callback)),
  };
}

/** A line with an invalid id is refused; the lines beside it are not. */
function checkedStatements(statements: StatementSource): StatementSource {
  return {
    ...statements,
    read: async (request) => {
      const page = await statements.read(request);
      if (page.state === 'unknown') return page;
      const lines = page.lines.filter(isValidLine).map(withCleanTexts);
      const refusals = Array.from({ length: page.lines.length - lines.length }, () => invalidLine);
      return { ...page, lines, refusals: [...page.refusals, ...refusals] };
    },
  };
}

const invalidLine = 'It has an id that cannot be one, or a fee that is larger than its amount.';

function isValidLine({ transactionId, originalTransactionId, grossMinor }: StatementEntry): boolean {
  return [transactionId, originalTransactionId ?? transactionId].every(isNetworkId) && grossMinor >= 0n;
}

/** People read these, and match by them; one that PostgreSQL cannot store would stop the whole statement. */
function withCleanTexts(line: StatementEntry): StatementEntry {
  const { reference, counterpartyNumber, counterpartyName } = line;
  return {
    ...line,
    reference: reference && readableText(reference),
    counterpartyNumber: counterpartyNumber && readableText(counterpartyNumber),
    counterpartyName: counterpartyName && readableText(counterpartyName),
  };
}

function checkedReading(reading: CallbackReading): CallbackReading {
  if (!reading.accepted) return reading;
  const notifications = reading.notifications
    .filter(({ reference }) => isNetworkId(reference))
    .map(checkedNotification);
  return notifications.length === 0 && reading.notifications.length > 0
    ? { accepted: false, reason: 'malformed' }
    : { ...reading, notifications };
}

function checkedNotification(notification: ProviderNotification): ProviderNotification {
  const { operation, reference, response } = notification;
  if (response === null) return notification;
  return operation === 'collection'
    ? { operation, reference, response: checked(response) }
    : { operation, reference, response: checked(response) };
}

function checked<Response extends NetworkResponse>(response: Response): Response | typeof invalidId {
  return hasValidIds(response) ? response : invalidId;
}

const invalidId = {
  state: 'unknown',
  detail: 'an id in the response is too long or has characters that ids do not have',
} as const;

function hasValidIds(response: NetworkResponse): boolean {
  if ('providerTransaction' in response) {
    const { transactionId, networkReference } = response.providerTransaction;
    const reversalIds = response.state === 'reversed' && response.reversalId !== undefined ? [response.reversalId] : [];
    return [transactionId, networkReference, ...reversalIds].every(isNetworkId);
  }
  return !('handles' in response) || (isNetworkId(response.networkReference) && areValidHandles(response.handles));
}

function areValidHandles(handles: NetworkHandles): boolean {
  const entries = Object.entries(handles);
  return entries.length <= handlesMax && entries.every(([name, value]) => isNetworkId(name) && handleForm.test(value));
}
