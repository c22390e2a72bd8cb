import { html, type Html } from '../../server/src/kit/html.ts';
import { formatAmount } from '../../server/src/kit/money.ts';
import { codeAttemptsMax, codeLength } from '../session.ts';
import type { PhoneAction } from '../transitions.ts';
import type { Prompt } from '../prompt.ts';
import { networkMark } from '../../server/src/pages/icons.ts';
import { foreignText, formatTime } from '../../server/src/pages/page-text.ts';

/** One payment on the simulated phone: its question, its status and its buttons. */
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

function promptQuestion(prompt: Prompt): Html {
  const amount = html`<b>${formatAmount(prompt.amountMinor)}</b>`;
  if (prompt.status !== 'open') return amount;
  if (prompt.code !== null) return html`Your code for ${amount} is <b class="sms">${prompt.code}</b>`;
  return html`Pay ${amount}?`;
}

/** Its outcome, or what the payer must do on the payment page. */
export function promptStatus(prompt: Prompt): Html {
  const text = promptStatusText(prompt);
  return text === '' ? html`` : html`<p class="status">${text}</p>`;
}

const failureTexts = {
  payer_declined: 'Declined.',
  balance_too_low: 'Refused by the network: insufficient funds.',
  wrong_code: 'Refused by the network: too many wrong codes.',
  not_permitted: 'Refused by the network.',
} as const;

function promptStatusText(prompt: Prompt): string {
  switch (prompt.status) {
    case 'open':
      if (prompt.awaitsConfirmation) {
        return 'Approved here. Now press “I have approved” on the payment page; otherwise it is confirmed after 30 seconds.';
      }
      if (prompt.requiresCode) return codeHint(prompt.codeAttemptsLeft);
      if (prompt.code === null) return '';
      return `Enter it on ${prompt.network === 'wave' ? 'Wave’s' : 'the payment'} page to approve.`;
    case 'complete':
      return `Paid. Transaction ${prompt.transactionId ?? ''}`;
    case 'failed':
      return prompt.failureCode === null ? 'Refused by the network.' : failureTexts[prompt.failureCode];
    case 'expired':
      return 'Expired before it was approved.';
    case 'cancelled':
      return 'Cancelled on the payment page.';
    case 'reversed':
      return 'Reversed by the network.';
  }
}

function codeHint(attemptsLeft: number): string {
  if (attemptsLeft === codeAttemptsMax) return 'Enter it here to approve.';
  return `The code was wrong. ${attemptsLeft === 1 ? 'One try is' : `${attemptsLeft} tries are`} left.`;
}

const actionButtons: Record<PhoneAction, { label: string; style: string }> = {
  approve: { label: 'Approve', style: 'button' },
  decline: { label: 'Decline', style: 'button danger' },
  approve_late: { label: 'Approve late', style: 'link' },
  reverse: { label: 'Reverse at the network', style: 'link' },
};

export function promptForm(prompt: Prompt, { path, proof }: { path: string; proof: Html }): Html {
  if (prompt.actions.length === 0) return html``;
  return html`<form method="post" action="${path}">
${proof}
<input type="hidden" name="session" value="${prompt.sessionId}">
${prompt.requiresCode && codeField(prompt)}
${prompt.actions.map((action) => {
  const { label, style } = actionButtons[action];
  return html`<button class="${style}" name="action" value="${action}">${label}</button>`;
})}
</form>`;
}

function codeField({ sessionId, networkName }: Prompt): Html {
  const id = `code-${sessionId}`;
  return html`<div class="code"><label for="${id}">Code from ${foreignText(networkName)}</label>
<input id="${id}" name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="${2 * codeLength}"></div>`;
}
