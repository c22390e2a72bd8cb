import type { OutboundClient } from '../../kit/outbound-http.ts';
import { failureResponse } from '../channel.ts';
import type { Channel, Notice } from '../channel.ts';
import { translateResponse } from './translate.ts';

/** From the settings `WHATSAPP_…`. */
export interface WhatsappSettings {
  /** No slash at its end. */
  baseUrl: string;
  /** `23.0` */
  apiVersion: string;
  phoneNumberId: string;
  accessToken: string;
  /** Signs what WhatsApp calls us with. */
  appSecret: string;
  /** What WhatsApp shows once, when the address of its calls is entered. */
  verifyToken: string;
  template: string;
  templateLanguage: string;
}

/** WhatsApp's Cloud API: a message of an approved template, because staff have not written to us within a day. */
export function createWhatsappChannel(settings: WhatsappSettings, outbound: OutboundClient): Channel {
  const url = `${settings.baseUrl}/v${settings.apiVersion}/${encodeURIComponent(settings.phoneNumberId)}/messages`;
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${settings.accessToken}` };
  return {
    name: 'whatsapp',
    // Whether a number has WhatsApp is known only once something was sent.
    reaches: () => Promise.resolve(true),
    send: async (notice) => {
      const body = Buffer.from(JSON.stringify(messageBody(settings, notice)));
      const result = await outbound.post({ url, headers, body, httpsOnly: false });
      if (result.kind === 'failed') return failureResponse(result.failure);
      return translateResponse({ status: result.status, retryAfterMs: result.retryAfterMs, text: result.excerpt });
    },
  };
}

/** What a status of this message brings back with it, so that the notice is found without a search over all merchants. */
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
