import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import type { Log } from '../../kit/log.ts';
import { parseInternationalNumber, PhoneNumberError } from '../../kit/phone-number.ts';
import type { ChatMessage } from '../../notifications/notice.ts';
import { createPageSender } from '../document.ts';
import { createFormGuard } from '../form-guard.ts';
import { loadStyle } from '../inline-asset.ts';
import { preparePageScope, seeOther } from '../page-scope.ts';
import { chatNumberFormPage, chatPage } from './chat-page.ts';

export interface ChatPagesOptions {
  /** The newest messages to a number (E.164), oldest first. */
  listMessages: (number: string) => Promise<readonly ChatMessage[]>;
  log: Log;
  publicUrl: () => string;
  formKey: string | Uint8Array;
}

type ChatRequest = FastifyRequest<{ Params: { number?: string }; Querystring: { number?: unknown } }>;

const style = loadStyle(
  new URL('../style.css', import.meta.url),
  new URL('../controls.css', import.meta.url),
  new URL('chat.css', import.meta.url),
);

/**
 * `/simulator/chat/{number}`: the phone of staff in the test environment, with what the development channel was given.
 * A production server has none (docs/testing-with-the-simulator.md, "The phone").
 */
export const chatPages: FastifyPluginAsync<ChatPagesOptions> = async (app, options) => {
  const { publicUrl, log, listMessages } = options;
  const guard = createFormGuard({ publicUrl, key: options.formKey });
  const sender = createPageSender({ publicUrl, style, script: null });
  await app.register(
    async (scope) => {
      await preparePageScope(scope, { sender, guard, log, homeOf: () => '/simulator/chat' });

      scope.get('/', async (request: ChatRequest, reply) => {
        const { number } = request.query;
        if (typeof number === 'string') return seeOther(reply, chatPath(number.trim()));
        return sender.send(request, reply, { status: 200, content: chatNumberFormPage(null) });
      });

      scope.get('/:number', async (request: ChatRequest, reply) => {
        const { number = '' } = request.params;
        const canonical = canonicalNumber(number);
        if (canonical === null)
          return sender.send(request, reply, { status: 400, content: chatNumberFormPage(number) });
        const chat = { number, messages: await listMessages(canonical), path: chatPath(number) };
        return sender.send(request, reply, { status: 200, content: chatPage(chat) });
      });
    },
    { prefix: '/simulator/chat' },
  );
};

function chatPath(number: string): string {
  return `/simulator/chat/${encodeURIComponent(number)}`;
}

function canonicalNumber(number: string): string | null {
  try {
    return parseInternationalNumber(number, { strict: false });
  } catch (error) {
    if (error instanceof PhoneNumberError) return null;
    throw error;
  }
}
