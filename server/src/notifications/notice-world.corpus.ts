import assert from 'node:assert/strict';
import { claimWork } from '../events/outbox.ts';
import type { Work } from '../events/work.ts';
import { addMs } from '../kit/clock.ts';
import { createOutboundClient } from '../kit/outbound-http.ts';
import { approveLive } from '../merchants/business-status.ts';
import { createBusiness } from '../merchants/create-business.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { createNetworkRegistry } from '../networks/registry.ts';
import { ScriptedNetwork } from '../networks/scripted-network.corpus.ts';
import { applyResponse } from '../payments/apply-response.ts';
import type { Charge } from '../payments/charge.ts';
import { createPayment, type NewPayment } from '../payments/create-payment.ts';
import { createPaymentWorld, newPayment, succeeded } from '../payments/payment-world.corpus.ts';
import { createTerminal, updateTerminal, type TerminalChange } from '../terminals/manage-terminals.ts';
import type { ChatDelivery, TerminalContext, VirtualTerminal } from '../terminals/terminal.ts';
import { ChannelBreaker } from './channel-breaker.ts';
import { readChatDelivery } from './chat-delivery.ts';
import { createDevelopmentChannel } from './development/channel.ts';
import { startFakeChat } from './fake-chat.corpus.ts';
import type { NoticeContext } from './context.ts';
import { notifyCharge } from './notify-charge.ts';
import { createTelegramChannel } from './telegram/channel.ts';
import { createTelegramChats } from './telegram/chats.ts';
import { createWhatsappChannel } from './whatsapp/channel.ts';

export const whatsappSettings = {
  apiVersion: '23.0',
  phoneNumberId: '1055501234',
  accessToken: 'EAAGtoken',
  appSecret: 'sim_app_secret',
  verifyToken: 'our word',
  template: 'payment_received',
  templateLanguage: 'en',
};

export const telegramSettings = {
  botToken: '123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0',
  webhookSecret: 'a secret of the tests',
};

/** The timeout of a send in the tests. */
export const channelTimeoutMs = 10_000;

/** Payments at counters of a live and a test merchant, a chat service on loopback, and a manual clock. */
export type NoticeWorld = Awaited<ReturnType<typeof createNoticeWorld>>;

export async function createNoticeWorld() {
  const payments = await createPaymentWorld();
  const { db, clock } = payments;
  const chat = await startFakeChat();
  const liveNetwork = new ScriptedNetwork('wave', { testMode: false, displayName: 'Wave' });
  const networks = createNetworkRegistry([...Object.values(payments.networks), liveNetwork]);
  const context = { ...payments.context, networks };
  const outbound = createOutboundClient({
    clock,
    policy: { allowPrivate: true },
    userAgent: 'test',
    totalTimeoutMs: channelTimeoutMs,
    excerptBytesMax: 32 * 1024,
  });
  const chats = createTelegramChats(context);
  const whatsapp = createWhatsappChannel({ ...whatsappSettings, baseUrl: chat.url }, outbound);
  const telegram = createTelegramChannel({ ...telegramSettings, baseUrl: chat.url }, outbound, chats);
  const newNotices = (): NoticeContext => ({
    ...context,
    channelBreaker: new ChannelBreaker(context),
    channels: { test: [createDevelopmentChannel({ ...context, keepsMessages: true })], live: [whatsapp] },
  });
  const terminals: TerminalContext = { ...context, chatDelivery: readChatDelivery };
  const live = await newLiveMerchant();

  async function newLiveMerchant(): Promise<Merchant> {
    const named = { name: 'Kairaba Books' };
    return db.withTransaction(async (tx) => {
      const { live: merchant } = await createBusiness(tx, context, named);
      await approveLive(tx, context, merchant.businessId);
      return { ...merchant, liveApprovedAt: clock.now() };
    });
  }
  const callerOf = (owner: Merchant) => ({ merchantId: owner.id, testMode: owner.testMode });

  const world = {
    ...payments,
    context,
    chat,
    chats,
    whatsapp,
    telegram,
    liveNetwork,
    live,
    newLiveMerchant,
    /** The context for sending; a second one stands for a second process. */
    notices: newNotices(),
    newNotices,
    counter: (chatNumbers: readonly string[], owner = live): Promise<VirtualTerminal> =>
      db.withTransaction((tx) => createTerminal(tx, terminals, callerOf(owner), { name: 'Front desk', chatNumbers })),
    changeCounter: ({ id }: VirtualTerminal, change: TerminalChange, owner = live): Promise<VirtualTerminal> =>
      db.withTransaction((tx) => updateTerminal(tx, clock, callerOf(owner), { id, change })),
    /** A payment at the counter that the network reports as paid. */
    paidAt: async ({ id: terminalId }: VirtualTerminal, owner = live, changes: Partial<NewPayment> = {}) => {
      const origin = {
        source: 'terminal',
        paymentLinkId: null,
        terminalId,
        customFieldsValues: null,
        formHash: null,
      } as const;
      const request = { ...newPayment, ...changes, origin };
      const { charge } = await db.withTransaction((tx) => createPayment(tx, context, owner, request));
      assert.ok(charge);
      await applyResponse(context, charge, succeeded(charge));
      return world.charge(charge);
    },
    claimNotices: (owner = live): Promise<Work[]> => {
      const now = clock.now();
      const claim = { merchantId: owner.id, queue: 'notifications', now, leaseEndsAt: addMs(now, 60_000) } as const;
      return claimWork(db, { ...claim, rowsMax: 50 });
    },
    /** Processes the work that is due now, one item after the other. Returns how many items. */
    deliverNotices: async (owner = live): Promise<number> => {
      const due = await world.claimNotices(owner);
      for (const work of due) await notifyCharge(world.notices, work);
      return due.length;
    },
    /** Advances the clock in steps of a second, and processes the work that falls due. */
    passDelivering: async (ms: number, owner = live): Promise<void> => {
      for (let passed = 0; passed < ms; passed += 1_000) {
        await clock.advance(1_000);
        await world.deliverNotices(owner);
      }
    },
    /** The status of a number (E.164) in the terminal's record. */
    delivery: async (terminal: VirtualTerminal, number: string): Promise<ChatDelivery | undefined> =>
      (await readChatDelivery(db, terminal.merchantId, [terminal.id])).get(terminal.id)?.get(number),
    statuses: async (charge: Charge): Promise<string[]> => {
      const rows = await db.rows<{ text: string }>({
        name: 'test_notices',
        text: `SELECT number || ' ' || status AS text FROM notifications
               WHERE merchant_id = $1 AND charge_id = $2 ORDER BY number`,
        values: [charge.merchantId, charge.id],
      });
      return rows.map(({ text }) => text);
    },
    noticeOf: async (charge: Charge): Promise<{ id: string; messageId: string | null; channel: string }> => {
      const row = await db.row<{ id: string; messageId: string | null; channel: string }>({
        name: 'test_notice',
        text: `SELECT id, message_id AS "messageId", channel FROM notifications WHERE merchant_id = $1 AND charge_id = $2`,
        values: [charge.merchantId, charge.id],
      });
      assert.ok(row);
      return row;
    },
    /** Calls in flight end without a response. */
    closeChat: async (): Promise<void> => {
      await outbound.close();
      await chat.close();
    },
    close: async (): Promise<void> => {
      await world.closeChat();
      await payments.close();
    },
  };
  return world;
}
