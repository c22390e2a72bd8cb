import type { Prompt } from '../../server/src/networks/simulator/prompt.ts';
import type { PhonePagesOptions } from '../../server/src/pages/phone/phone-pages.ts';
import { sceneTime } from './checkout-scenes.ts';

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
    codeAttemptsLeft: 3,
    awaitsConfirmation: false,
    failureCode: null,
    transactionId: null,
    returnUrl: 'http://127.0.0.1/pay/mine',
    createdAt: sceneTime,
    expiresAt: new Date(sceneTime.getTime() + 30 * 60_000),
    actions: ['approve', 'decline'],
    ...changes,
  };
}

const afrimoney = { network: 'afrimoney', networkName: 'Afrimoney', shape: 'push_then_confirm' } as const;
const qmoney = { network: 'qmoney', networkName: 'QMoney', shape: 'code' } as const;
const wave = { network: 'wave', networkName: 'Wave', shape: 'redirect' } as const;

/** What a phone can show, by its number. */
export const phones: Record<string, Prompt[]> = {
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
};

export const launches: Record<string, Prompt> = {
  open: samplePrompt({ ...wave, sessionId: 'open', payerNumber: null }),
  complete: samplePrompt({
    ...wave,
    sessionId: 'complete',
    status: 'complete',
    transactionId: 'WAVE7KQ2M9XD41',
    actions: ['reverse'],
  }),
  failed: samplePrompt({
    ...wave,
    sessionId: 'failed',
    status: 'failed',
    failureCode: 'payer_declined',
    actions: ['approve_late'],
  }),
};

/** Shows the scenes and changes nothing. */
export const sceneSimulator: PhonePagesOptions['simulator'] = {
  listPrompts: async ({ number }) => phones[number] ?? [],
  findPrompt: async (sessionId) => launches[sessionId],
  act: async () => undefined,
};
