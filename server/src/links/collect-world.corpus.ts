import assert from 'node:assert/strict';
import { AppError } from '../api/app-error.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { applyResponse } from '../payments/apply-response.ts';
import type { Charge } from '../payments/charge.ts';
import { chargeToWire } from '../payments/charge-wire.ts';
import type { Intent } from '../payments/intent.ts';
import { createPaymentWorld, succeeded } from '../payments/payment-world.corpus.ts';
import { createSubAccount, updateSubAccount } from '../sub-accounts/manage-sub-accounts.ts';
import { newSubAccount } from '../sub-accounts/new-sub-account.corpus.ts';
import { createTerminal, updateTerminal, type TerminalChange } from '../terminals/manage-terminals.ts';
import type { VirtualTerminal } from '../terminals/terminal.ts';
import { createLink, updateLink } from './manage-links.ts';
import type { LinkChange } from './link-fields.ts';
import { payAtTerminal } from './pay-at-terminal.ts';
import { payLink, type LinkPayment } from './pay-link.ts';
import type { PaymentLink } from './payment-link.ts';

/** Links and counters on the payments' world, whose networks respond as the test says. */
export type CollectWorld = Awaited<ReturnType<typeof createCollectWorld>>;

export async function createCollectWorld() {
  const payments = await createPaymentWorld();
  const { context, db, merchant } = payments;
  const caller = { merchantId: merchant.id, testMode: true };
  const within = db.withTransaction.bind(db);
  return {
    ...payments,
    newLink: (fields: LinkChange = {}): Promise<PaymentLink> =>
      within((tx) =>
        createLink(tx, context, merchant, { fields: { title: 'School fees', ...fields }, prefix: 'data.' }),
      ),
    changeLink: (link: PaymentLink, change: LinkChange): Promise<PaymentLink> =>
      within((tx) => updateLink(tx, context, merchant, { id: link.id, change, prefix: '' })),
    throughLink: (link: PaymentLink, payment: Partial<LinkPayment> = {}, by: Merchant = merchant): Promise<Intent> =>
      within((tx) => payLink(tx, context, by, link, { ...sentByPage, ...payment })),
    newTerminal: (name = 'Till 1'): Promise<VirtualTerminal> =>
      within((tx) => createTerminal(tx, context, caller, { name, chatNumbers: ['7012345'] })),
    changeTerminal: (terminal: VirtualTerminal, change: TerminalChange): Promise<VirtualTerminal> =>
      within((tx) => updateTerminal(tx, context.clock, caller, { id: terminal.id, change })),
    atCounter: (terminal: VirtualTerminal, amountMinor: bigint, by: Merchant = merchant): Promise<Intent> =>
      within((tx) => payAtTerminal(tx, context, by, terminal, { amountMinor, formHash: null })),
    newSubAccount: async (percent: bigint): Promise<string> => {
      const request = { ...newSubAccount, percentHundredths: percent * 100n };
      return (await within(async (tx) => createSubAccount(tx, context, caller, request))).id;
    },
    pauseSubAccount: (id: string) =>
      within((tx) => updateSubAccount(tx, context, caller, { id, change: { active: false }, prefix: '' })),
    /** The payer chooses a network, approves, and the money is booked. */
    complete: async (intent: Intent, network = 'wave'): Promise<Charge> => {
      const charge = await payments.attempt(intent, network);
      await applyResponse(context, charge, succeeded(charge));
      return payments.charge(charge);
    },
    /** The charge as its merchant reads it, by API and in events. */
    record: async (charge: Charge) =>
      chargeToWire(context, merchant, await payments.intent({ ...charge, id: charge.intentId }), charge),
  };
}

const sentByPage: LinkPayment = {
  amountMinor: null,
  shownTotalMinor: null,
  customFieldsValues: {},
  choice: null,
  formHash: null,
};

/** Code, field and message of a refusal. */
export async function refusalOf(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
  } catch (error) {
    assert.ok(error instanceof AppError, String(error));
    return `${error.code} ${error.fields?.[0]?.path ?? 'no field'}: ${error.message}`;
  }
  assert.fail('it was accepted');
}
