import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import { html, type Html } from '../../kit/html.ts';
import type { Log } from '../../kit/log.ts';
import { numberOrNull, parseInternationalNumber } from '../../kit/phone-number.ts';
import type { ChatMessage } from '../../notifications/notice.ts';
import { createPageSender, type PageContent } from '../document.ts';
import { fieldError } from '../form-errors.ts';
import { type FormGuardOptions, createFormGuard } from '../form-guard.ts';
import { icon } from '../icons.ts';
import { commonStyles, loadStyle } from '../inline-asset.ts';
import { layout } from '../layout.ts';
import { preparePageScope, seeOther } from '../page-scope.ts';
import { formatNumber, formatTime } from '../page-text.ts';

export interface ChatPagesOptions extends FormGuardOptions {
  /** The newest messages to a number (E.164), oldest first. */
  listMessages: (number: string) => Promise<readonly ChatMessage[]>;
  log: Log;
}

type ChatRequest = FastifyRequest<{ Params: { number?: string }; Querystring: { number?: unknown } }>;

const style = loadStyle(...commonStyles, new URL('chat.css', import.meta.url));

/**
 * `/simulator/chat/{number}`: the messages of the development channel to a number of staff. Not on a production server
 * (docs/testing-with-the-simulator.md, "The phone").
 */
export const chatPages: FastifyPluginAsync<ChatPagesOptions> = async (app, options) => {
  const { publicUrl, log, listMessages } = options;
  const guard = createFormGuard(options);
  const sender = createPageSender({ publicUrl, style, script: null });
  await app.register(
    async (scope) => {
      await preparePageScope(scope, { sender, guard, publicUrl, log, homeOf: () => '/simulator/chat' });

      scope.get('/', async (request: ChatRequest, reply) => {
        const { number } = request.query;
        if (typeof number === 'string') return seeOther(reply, chatPath(number.trim()));
        return sender.send(request, reply, { status: 200, content: chatNumberFormPage(null) });
      });

      scope.get('/:number', async (request: ChatRequest, reply) => {
        const { number = '' } = request.params;
        const canonical = numberOrNull(() => parseInternationalNumber(number, { strict: false }));
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

const ribbon = html`<header class="ribbon"><p><b>Simulated chat</b>: no real messages are sent</p></header>`;

/** The messages that a phone would show. Does not refresh itself, so that nothing moves while you read. */
function chatPage(chat: { number: string; messages: readonly ChatMessage[]; path: string }): PageContent {
  const { number, messages, path } = chat;
  return {
    title: `Simulated chat of ${formatNumber(number)}`,
    refreshSeconds: null,
    body: layout(html`${ribbon}
<main class="card handset">
<header class="bar">${icon('phone')}<h1>Simulated chat of <span class="masked">${formatNumber(number)}</span></h1></header>
${messages.length === 0 ? emptyChat(number) : html`<ol class="chat">${messages.map(bubble)}</ol>`}
<footer><a href="${path}">Look for new messages</a><a href="/simulator/chat">Another number</a></footer>
</main>`),
  };
}

/** A message has several lines, which were sanitized when it was written. */
function bubble({ body, createdAt }: ChatMessage): Html {
  return html`<li class="message"><p dir="auto">${body}</p><time datetime="${createdAt.toISOString()}">${formatTime(createdAt)}</time></li>`;
}

function emptyChat(number: string): Html {
  return html`<div class="empty"><p><b>No messages yet.</b> Put ${formatNumber(number)} into a counter’s
<code>chat_numbers</code> with a test key, and pay there.</p></div>`;
}

/** Asks for the number. The form uses GET, so that the chat's URL can be bookmarked and shared. */
function chatNumberFormPage(refusedNumber: string | null): PageContent {
  const refused = refusedNumber !== null;
  return {
    title: 'Simulated chat',
    refreshSeconds: null,
    body: layout(html`${ribbon}
<main class="card narrow">
<section class="step" aria-labelledby="step">
<h1 id="step">Whose chat?</h1>
<p>In test mode, messages about payments at a counter arrive on this page instead of on a phone.</p>
<form action="/simulator/chat">
<div>
<label for="number">Number</label>
<input id="number" name="number" type="tel" inputmode="tel" autocomplete="off" maxlength="30" required value="${refusedNumber}"${
      refused && html` aria-invalid="true"`
    } aria-describedby="${refused && 'number-error '}number-hint" autofocus>
${refused && fieldError('number', 'That is not a phone number. Write 7 or 9 digits, or + and the country code.')}
<p class="hint" id="number-hint">Any usual form, like 700 2345 or +221 77 123 45 67.</p>
</div>
<button class="button">${icon('phone')}Look at the chat</button>
</form>
</section>
</main>`),
  };
}
