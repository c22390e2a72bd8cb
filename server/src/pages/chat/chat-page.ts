import { html } from '../../kit/html.ts';
import type { Html } from '../../kit/html.ts';
import type { ChatMessage } from '../../notifications/notice.ts';
import type { PageContent } from '../document.ts';
import { icon } from '../icons.ts';
import { formatTime } from '../page-text.ts';
import { formatNumber } from '../format-number.ts';
import { layout } from '../layout.ts';

const ribbon = html`<header class="ribbon"><p><b>Simulated chat</b>: no real messages are sent</p></header>`;

/** What a phone would show. It does not ask by itself for more: the link does, so that nothing moves under a reader. */
export function chatPage(chat: { number: string; messages: readonly ChatMessage[]; path: string }): PageContent {
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

/** A message has several lines, and each was cleaned when it was written. */
function bubble({ body, createdAt }: ChatMessage): Html {
  return html`<li class="message"><p dir="auto">${body}</p><time datetime="${createdAt.toISOString()}">${formatTime(createdAt)}</time></li>`;
}

function emptyChat(number: string): Html {
  return html`<div class="empty"><p><b>No messages yet.</b> Put ${formatNumber(number)} into a counter’s
<code>chat_numbers</code> with a test key, and pay there.</p></div>`;
}

/** Which phone to look at. A form by GET, so that the chat's address can be kept and shared. */
export function chatNumberFormPage(refusedNumber: string | null): PageContent {
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
${
  refused &&
  html`<p class="error" id="number-error">${icon('warning')}That is not a number. Write 7 or 9 digits, or + and the country code.</p>`
}
<p class="hint" id="number-hint">Any usual form, like 700 2345 or +221 77 123 45 67.</p>
</div>
<button class="button">${icon('phone')}Look at the chat</button>
</form>
</section>
</main>`),
  };
}
