import { hourMs } from '../../kit/clock.ts';
import { dalasi } from '../../kit/money.ts';
import { numberOrNull, parsePhoneNumber } from '../../kit/phone-number.ts';
import type { JsonObject } from '../../kit/strict-json.ts';
import type { ConnectorKind } from '../connector-kind.ts';
import { findKnownNetwork, knownNetworks } from '../known-networks.ts';
import { messagePath } from '../registry.ts';
import { createReceiptsConnector } from './connector.ts';

// Longer than the two days for which gateways repeat a message.
const defaultAgeHours = 72;
const ageHoursMax = 24 * 14;

/** A shop's own number without any contract: its phone forwards the network's messages (docs/receipts.md). */
export const receiptsKind: ConnectorKind = {
  name: 'receipts',
  displayName: 'Receipts',
  source: 'receipts',
  hasBaseUrl: false,
  needsBusiness: true,
  fields: [
    {
      name: 'network',
      label: 'Network',
      hint: knownNetworks.map(({ id }) => id).join(', '),
      type: 'text',
      isRequired: true,
    },
    { name: 'till', label: 'Till', hint: 'The number that payers send the money to', type: 'text', isRequired: true },
    {
      name: 'holder',
      label: 'Holder',
      hint: 'Whose number it is, as the network shows it',
      type: 'text',
      isRequired: true,
    },
    {
      name: 'device-key',
      label: 'Device key',
      hint: 'The signing key of the application that forwards the phone’s messages, at least 16 characters',
      type: 'secret',
      isRequired: true,
    },
    {
      name: 'message-age-hours',
      label: 'Oldest message in hours',
      hint: `From 1 to ${ageHoursMax}; ${defaultAgeHours} where it is empty`,
      type: 'text',
      isRequired: false,
    },
  ],
  networksOf: (settings) => [readSettings(settings).network],
  connect({ railAccount, testMode, merchantId, settings, amountStepMinor, credentials }) {
    const { network, till, holder, ageHours } = readSettings(settings);
    const connector = createReceiptsConnector({
      ...{ railAccount, network, testMode, merchantId, number: till, holder },
      amountStepMinor: amountStepMinor ?? dalasi,
      messageAgeMaxMs: ageHours * hourMs,
      keysAt: (at) => credentials.validAt('device-key', at).filter(isKey),
    });
    const isUsable = isKey(credentials.current('device-key') ?? '');
    const works = { works: true, text: `It waits for messages at ${messagePath(railAccount)} and calls nobody.` };
    const tooShort = {
      works: false,
      text: 'The device key has fewer than 16 characters, so every message is refused.',
    };
    return { connectors: [connector], check: async () => (isUsable ? works : tooShort), close: async () => {} };
  },
};

// Whoever guesses it can forge receipts.
const keyLengthMin = 16;

function isKey(key: string): boolean {
  return key.length >= keyLengthMin;
}

const holderLengthMax = 80;

/** Throws an Error that names the first wrong setting. */
function readSettings(settings: JsonObject) {
  const { network, till, holder, 'message-age-hours': age = String(defaultAgeHours) } = settings;
  if (typeof network !== 'string' || !findKnownNetwork(network)) {
    throw new Error(`The network is one of ${knownNetworks.map(({ id }) => id).join(', ')}.`);
  }
  if (typeof till !== 'string' || !numberOrNull(() => parsePhoneNumber(till, { strict: false }))) {
    throw new Error('The till is a Gambian number of 7 or 9 digits, such as 7001234.');
  }
  if (typeof holder !== 'string' || holder.length > holderLengthMax || /\p{Cc}/u.test(holder)) {
    throw new Error(`The holder is a name of up to ${holderLengthMax} characters.`);
  }
  const ageHours = typeof age === 'string' && /^\d{1,3}$/.test(age) ? Number(age) : 0;
  if (ageHours < 1 || ageHours > ageHoursMax) {
    throw new Error(`The oldest message in hours is a whole number from 1 to ${ageHoursMax}.`);
  }
  return { network, till, holder, ageHours };
}
