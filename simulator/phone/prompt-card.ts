import { html } from '../../server/src/kit/html.ts';
import type { Html } from '../../server/src/kit/html.ts';
import { formatAmount } from '../../server/src/kit/money.ts';
import type { PhoneAction } from '../transitions.ts';
import type { Prompt } from '../prompt.ts';
import { networkMark } from '../../server/src/pages/icons.ts';
import { foreignText, formatTime } from '../../server/src/pages/page-text.ts';

/** One payment on the simulated phone: what is asked, what was tapped, and what can be tapped now. */
export function promptCard(prompt: Prompt, form: { path: string; proof: Html }): Html {
  const id = `prompt-${prompt.sessionId}`;
  return html`<article class="prompt prompt-${prompt.status}" aria-labelledby="${id}">
<header>${networkMark(prompt.network, prompt.networkName)}<h2 id="${id}">${foreignText(prompt.networkName)}</h2><time datetime="${prompt.createdAt.toISOString()}">${formatTime(prompt.createdAt)}</time></header>
<p class="ask">${promptQuestion(prompt)}</p>
<p class="what">${foreignText(prompt.description)}</p>
${promptStatus(prompt)}
${promptForm(prompt, form)}
</article>`;
}

export function promptQuestion(prompt: Prompt): Html {
  const amount = html`<b>${formatAmount(prompt.amountMinor)}</b>`;
  if (prompt.status !== 'open') return amount;
  if (prompt.code !== null) return html`Your code for ${amount} is <b class="sms">${prompt.code}</b>`;
  return html`Pay ${amount}?`;
}

/** What became of it, or what is to be done elsewhere. */
export function promptStatus(prompt: Prompt): Html {
  const words = promptStatusText(prompt);
  return words === '' ? html`` : html`<p class="news">${words}</p>`;
}

const failureWords = {
  payer_declined: 'Declined.',
  balance_too_low: 'Refused by the network: too little money.',
  wrong_code: 'Refused by the network: the code was wrong too often.',
  not_permitted: 'Refused by the network.',
} as const;

function promptStatusText(prompt: Prompt): string {
  switch (prompt.status) {
    case 'open':
      if (prompt.awaitsConfirmation) {
        return 'Approved here. Now press “I have approved” on the payment page; otherwise it counts after 30 seconds.';
      }
      return prompt.code === null ? '' : 'Type it on the payment page to approve.';
    case 'complete':
      return `Paid. Transaction ${prompt.transactionId ?? ''}`;
    case 'failed':
      return prompt.failureCode === null ? 'Refused by the network.' : failureWords[prompt.failureCode];
    case 'expired':
      return 'Expired before anybody answered.';
    case 'cancelled':
      return 'Cancelled from the payment page.';
    case 'reversed':
      return 'Taken back by the network.';
  }
}

const actionButtons: Record<PhoneAction, { words: string; style: string }> = {
  approve: { words: 'Approve', style: 'button' },
  decline: { words: 'Decline', style: 'button danger' },
  approve_late: { words: 'Approve after all (late)', style: 'link' },
  reverse: { words: 'Reverse at the network', style: 'link' },
};

export function promptForm(prompt: Prompt, { path, proof }: { path: string; proof: Html }): Html {
  if (prompt.actions.length === 0) return html``;
  return html`<form method="post" action="${path}">
${proof}
<input type="hidden" name="session" value="${prompt.sessionId}">
${prompt.actions.map((action) => {
  const { words, style } = actionButtons[action];
  return html`<button class="${style}" name="action" value="${action}">${words}</button>`;
})}
</form>`;
}
