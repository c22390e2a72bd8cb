import type { Arrival, PhoneFloat } from '../../simulator/payouts/arrival.ts';
import type { Prompt } from '../../simulator/prompt.ts';
import type { PhonePagesOptions } from '../../simulator/phone/phone-pages.ts';
import { fixtureTime } from './checkout-fixtures.ts';

export function samplePrompt(changes: Partial<Prompt> = {}): Prompt {
  return {
    sessionId: 'Shop1234session0000000001',
    account: 'Shop1234',
    network: 'aps',
    networkName: 'APS',
    reference: 'Shop1234reference00000001',
    shape: 'push',
    status: 'open',
    amountMinor: 125_000n,
    currency: 'GMD',
    description: 'Kairaba Bookshop: Order 1042',
    payerNumber: '+220877002345',
    payerNumberAsSent: '7002345',
    code: null,
    requiresCode: false,
    codeAttemptsLeft: 3,
    awaitsConfirmation: false,
    failureCode: null,
    transactionId: null,
    returnUrl: 'http://127.0.0.1/pay/mine',
    createdAt: fixtureTime,
    expiresAt: new Date(fixtureTime.getTime() + 30 * 60_000),
    actions: ['approve', 'decline'],
    ...changes,
  };
}

const afrimoney = { network: 'afrimoney', networkName: 'Afrimoney', shape: 'push_then_confirm' } as const;
const afrimoneyName = { network: 'afrimoney', networkName: 'Afrimoney' };
const qmoney = { network: 'qmoney', networkName: 'QMoney', shape: 'code' } as const;
const wave = { network: 'wave', networkName: 'Wave', shape: 'redirect' } as const;

/** The prompts on a phone, by its number. */
export const promptsByNumber: Record<string, Prompt[]> = {
  '7002345': [samplePrompt()],
  '7002346': [
    samplePrompt({ ...qmoney, sessionId: 'a', code: '482913', actions: ['decline'] }),
    samplePrompt({ ...afrimoney, sessionId: 'b', awaitsConfirmation: true, actions: [] }),
    samplePrompt({ sessionId: 'c', status: 'complete', transactionId: 'APS7KQ2M9XD41', actions: ['reverse'] }),
    samplePrompt({
      ...wave,
      sessionId: 'd',
      status: 'failed',
      failureCode: 'payer_declined',
      actions: ['approve_late'],
    }),
    samplePrompt({ sessionId: 'e', status: 'expired', actions: ['approve_late'] }),
    samplePrompt({ sessionId: 'f', status: 'reversed', actions: [] }),
  ],
  '7002347': [],
  '7002348': [samplePrompt({ createdAt: minutesBefore(30) })],
  '7000010': [],
};

function sampleArrival(changes: Partial<Arrival> = {}): Arrival {
  return {
    payoutId: 'Shop1234payout00000000001',
    account: 'Shop1234',
    network: 'aps',
    networkName: 'APS',
    amountMinor: 450_000n,
    currency: 'GMD',
    description: 'Kairaba Bookshop: Wages for May',
    transactionId: 'TK4m9XQ2bV7cR1sW8yN3pLd',
    arrivedAt: fixtureTime,
    reversedAt: null,
    ...changes,
  };
}

function minutesBefore(minutes: number): Date {
  return new Date(fixtureTime.getTime() - minutes * 60_000);
}

/** Received money, by the phone's number. */
const arrivals: Record<string, Arrival[]> = {
  '7002348': [
    sampleArrival(),
    sampleArrival({
      network: 'wave',
      networkName: 'Wave',
      payoutId: 'b',
      description: 'Banjul Metropolitan Savings and Loans Cooperative Society: Dividend of the second half of the year',
      amountMinor: 100_000_000n,
      arrivedAt: minutesBefore(90),
    }),
    sampleArrival({
      ...afrimoneyName,
      payoutId: 'c',
      amountMinor: 12_550n,
      arrivedAt: minutesBefore(200),
      reversedAt: minutesBefore(180),
    }),
  ],
  '7000010': [sampleArrival({ payoutId: 'd', arrivedAt: minutesBefore(3) })],
};

const floats: Record<string, PhoneFloat[]> = {
  '7000010': [
    { account: 'Shop1234', network: 'wave', networkName: 'Wave', state: 'empty', changedAt: fixtureTime },
    { account: 'Shop1234', network: 'aps', networkName: 'APS', state: 'filled', changedAt: minutesBefore(4) },
  ],
};

export const launchPrompts: Record<string, Prompt> = {
  open: samplePrompt({ ...wave, sessionId: 'open', payerNumber: null }),
  complete: samplePrompt({
    ...wave,
    sessionId: 'complete',
    status: 'complete',
    transactionId: 'WAVE7KQ2M9XD41',
    actions: ['reverse'],
  }),
  code: samplePrompt({
    ...wave,
    shape: 'code',
    sessionId: 'code',
    code: '123456',
    codeAttemptsLeft: 2,
    actions: ['decline'],
  }),
  failed: samplePrompt({
    ...wave,
    sessionId: 'failed',
    status: 'failed',
    failureCode: 'payer_declined',
    actions: ['approve_late'],
  }),
};

/** Shows the fixtures; actions change nothing. */
export const fixtureSimulator: PhonePagesOptions['simulator'] = {
  listPrompts: async ({ number }) => promptsByNumber[number] ?? [],
  findPrompt: async (sessionId) => launchPrompts[sessionId],
  act: async () => undefined,
  enterCode: async () => undefined,
  payouts: {
    listArrivals: async ({ number }) => arrivals[number] ?? [],
    listFloats: async ({ number }) => floats[number] ?? [],
    setFloat: async () => {},
  },
};
