import type {
  ProviderNotification,
  CallbackReading,
  CollectionResponse,
  Connector,
  NetworkHandles,
  PayoutResponse,
  RefundOperations,
  PayoutOperations,
} from './contract.ts';

// The longest id in the networks' documents has some forty characters; ids of version 7 have 36.
const idLengthMax = 128;
// What a network's later calls need again, such as a payment token.
const handleLengthMax = 1_024;
const handlesMax = 16;

const idForm = new RegExp(`^[0-9A-Za-z][0-9A-Za-z._:/+=@#~-]{0,${idLengthMax - 1}}$`);
const handleForm = new RegExp(`^[\\x21-\\x7e]{1,${handleLengthMax}}$`);

/**
 * Whether a text may be an id or a reference of a network's. Ids settle money, are stored for ever, shown to merchants and
 * written into tables and logs: letters, digits and the signs that ids are made of, and no more of them than any needs.
 *
 * @internal
 */
export function isNetworkId(text: string): boolean {
  return idForm.test(text);
}

/**
 * The connector with the ids of its answers and callbacks checked, so that no connector can forget to. An answer with an
 * id that cannot be one is `unknown`, and is looked up; a callback about a reference that cannot be one is malformed.
 */
export function withCheckedIds(connector: Connector): Connector {
  return {
    get capabilities() {
      return connector.capabilities;
    },
    startCollection: async (request) => checkedCollection(await connector.startCollection(request)),
    continueCollection: async (request) => checkedCollection(await connector.continueCollection(request)),
    cancelCollection: async (request) => checkedCollection(await connector.cancelCollection(request)),
    lookUpCollection: async (request) => checkedCollection(await connector.lookUpCollection(request)),
    readCallback: (callback) => checkedReading(connector.readCallback(callback)),
    get payouts() {
      return connector.payouts && checkedPayouts(connector.payouts);
    },
    get refunds() {
      return connector.refunds && checkedRefunds(connector.refunds);
    },
  };
}

function checkedPayouts(payouts: PayoutOperations): PayoutOperations {
  return {
    capabilities: payouts.capabilities,
    start: async (request) => checkedPayout(await payouts.start(request)),
    lookUp: async (request) => checkedPayout(await payouts.lookUp(request)),
  };
}

function checkedRefunds(refunds: RefundOperations): RefundOperations {
  return {
    capabilities: refunds.capabilities,
    start: async (request) => checkedPayout(await refunds.start(request)),
    lookUp: async (request) => checkedPayout(await refunds.lookUp(request)),
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

function checkedNotification(notifications: ProviderNotification): ProviderNotification {
  return notifications.operation === 'collection'
    ? { ...notifications, response: checkedCollection(notifications.response) }
    : { ...notifications, response: checkedPayout(notifications.response) };
}

function checkedCollection(response: CollectionResponse): CollectionResponse {
  return isUsable(response) ? response : notAnId;
}

function checkedPayout(response: PayoutResponse): PayoutResponse {
  return isUsable(response) ? response : notAnId;
}

const notAnId = {
  state: 'unknown',
  detail: 'an id in the answer is too long or has other characters than ids have',
} as const;

function isUsable(response: CollectionResponse | PayoutResponse): boolean {
  if ('providerTransaction' in response) {
    const { transactionId, networkReference } = response.providerTransaction;
    const reversalIds = response.state === 'reversed' && response.reversalId !== undefined ? [response.reversalId] : [];
    return [transactionId, networkReference, ...reversalIds].every(isNetworkId);
  }
  return !('handles' in response) || (isNetworkId(response.networkReference) && areUsable(response.handles));
}

function areUsable(handles: NetworkHandles): boolean {
  const entries = Object.entries(handles);
  return entries.length <= handlesMax && entries.every(([name, value]) => isNetworkId(name) && handleForm.test(value));
}
