import type { FastifyPluginAsync } from 'fastify';
import { html, type Html } from '../../kit/html.ts';
import type { Log } from '../../kit/log.ts';
import type { ReadableMail } from '../../mail/mail.ts';
import { createPageSender, type PageContent } from '../document.ts';
import { type FormGuardOptions, createFormGuard } from '../form-guard.ts';
import { commonStyles, loadStyle } from '../inline-asset.ts';
import { layout } from '../layout.ts';
import { preparePageScope } from '../page-scope.ts';
import { foreignText, formatTime } from '../page-text.ts';

export interface MailPagesOptions extends FormGuardOptions {
  /** The newest mails, newest first. */
  listMailbox: () => Promise<readonly ReadableMail[]>;
  log: Log;
}

const style = loadStyle(...commonStyles, new URL('../chat/chat.css', import.meta.url));

/** `/simulator/mail`: the mails of a development server that has no mail server. Not on a production server. */
export const mailPages: FastifyPluginAsync<MailPagesOptions> = async (app, options) => {
  const { publicUrl, log, listMailbox } = options;
  const guard = createFormGuard(options);
  const sender = createPageSender({ publicUrl, style, script: null });
  await app.register(
    async (scope) => {
      await preparePageScope(scope, { sender, guard, publicUrl, log, homeOf: () => '/simulator/mail' });
      scope.get('/', async (request, reply) =>
        sender.send(request, reply, { status: 200, content: mailboxPage(await listMailbox(), publicUrl()) }),
      );
    },
    { prefix: '/simulator/mail' },
  );
};

function mailboxPage(mails: readonly ReadableMail[], publicUrl: string): PageContent {
  return {
    title: 'Simulated mailbox',
    refreshSeconds: 10,
    body: layout(html`<main class="card narrow">
<section class="step">
<h1>Simulated mailbox</h1>
<p class="hint">What this development server would send, newest first. Set SMTP_URL to send mails.</p>
${mails.length === 0 && html`<p>No mails yet.</p>`}
<ol class="messages">${mails.map((mail) => messageItem(mail, publicUrl))}</ol>
</section>
</main>`),
  };
}

function messageItem({ recipient, subject, text, createdAt }: ReadableMail, publicUrl: string): Html {
  return html`<li class="message">
<h2>${foreignText(subject)}</h2>
<p class="hint">To ${foreignText(recipient)}, ${formatTime(createdAt)}</p>
${text.split('\n\n').map((paragraph) => html`<p>${paragraph.split('\n').map((line) => html`${withLink(line, publicUrl)}<br>`)}</p>`)}
</li>`;
}

/** Our own addresses are links; all others stay text. */
function withLink(line: string, publicUrl: string): Html {
  const isOwn = line.startsWith(`${publicUrl}/`) && /^[\w:/.~-]+$/.test(line);
  return isOwn ? html`<a href="${line}">${line}</a>` : foreignText(line);
}
