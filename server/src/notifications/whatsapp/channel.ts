import type { OutboundClient } from '../../kit/outbound-http.ts';
import { failureResponse, type Channel, type Notice } from '../channel.ts';
import { translateResponse } from './translate.ts';

/** From the settings `WHATSAPP_…`. */
export interface WhatsappSettings {
  /** Without a trailing slash. */
  baseUrl: string;
  /** `23.0` */
  apiVersion: string;
  phoneNumberId: string;
  accessToken: string;
  /** Signs WhatsApp's callbacks. */
  appSecret: string;
  /** WhatsApp sends it once, when you enter the callback URL. */
  verifyToken: string;
  template: string;
  templateLanguage: string;
}

/** WhatsApp's Cloud API. Messages use an approved template, because staff have not written to us within a day. */
export function createWhatsappChannel(settings: WhatsappSettings, outbound: OutboundClient): Channel {
  const url = `${settings.baseUrl}/v${settings.apiVersion}/${encodeURIComponent(settings.phoneNumberId)}/messages`;
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${settings.accessToken}` };
  return {
    name: 'whatsapp',
    // Whether a number has WhatsApp is known only after a send.
    reaches: () => Promise.resolve(true),
    send: async (notice) => {
      const body = Buffer.from(JSON.stringify(messageBody(settings, notice)));
      const result = await outbound.post({ url, headers, body, httpsOnly: false });
      if (result.kind === 'failed') return failureResponse(result.failure);
      return translateResponse({ status: result.status, retryAfterMs: result.retryAfterMs, text: result.excerpt });
    },
  };
}

/** WhatsApp returns this tag with each status of the message, so that the notice is found by its key. */
export function noticeTag({ merchantId, id }: Pick<Notice, 'merchantId' | 'id'>): string {
  return `${merchantId}:${id}`;
}

function messageBody(settings: WhatsappSettings, notice: Notice) {
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: notice.recipient ?? notice.number.replace('+', ''),
    type: 'template',
    template: {
      name: settings.template,
      language: { code: settings.templateLanguage },
      components: [{ type: 'body', parameters: notice.templateParts.map((text) => ({ type: 'text', text })) }],
    },
    biz_opaque_callback_data: noticeTag(notice),
  };
}
