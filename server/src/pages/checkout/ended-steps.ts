import { html, type Html } from '../../kit/html.ts';
import { icon, type IconName } from '../icons.ts';
import { shopContact } from '../merchant-appearance.ts';
import { amountText, foreignText, formatTime } from '../page-text.ts';
import { failureText } from './failure-text.ts';
import type { CheckoutCharge, OpenPrompt } from '../../payments/checkout-view.ts';
import type { CheckoutPageModel } from './page-model.ts';
import { shopLink } from './links.ts';
import { hasOpenAttempt, openAttempts } from './step.ts';

/** No attempts are left. */
export function failedStep(model: CheckoutPageModel): Html {
  const { view } = model;
  return ended(model, {
    ...(hasOpenAttempt(view) ? undecided(model) : notPaid(model)),
    after: shopLink(model, view.returnUrl),
  });
}

function notPaid({ view, language: { t } }: CheckoutPageModel): Omit<Ended, 'after'> {
  return {
    tone: 'bad',
    icon: 'cross',
    heading: t('not-paid'),
    body: html`${view.charge && html`<p><b>${failureText(t, view.charge)}</b></p>`}
<p>${t('no-tries', { merchant: foreignText(view.merchantName) })}</p>`,
  };
}

/** The last attempt has failed, and one that the payer has left may still succeed: "not paid" would not be known. */
function undecided(model: CheckoutPageModel): Omit<Ended, 'after'> {
  const { t } = model.language;
  const { charge } = model.view;
  const heading = charge ? failureText(t, charge) : t('not-paid');
  return { tone: 'wait', icon: 'clock', heading, body: lateApproval(model, openAttempts(model.view)) };
}

export function cancelledStep(model: CheckoutPageModel): Html {
  const { view } = model;
  const { t } = model.language;
  return ended(model, {
    tone: 'calm',
    icon: 'cross',
    heading: t('cancelled'),
    body: whatIsKnown(model, html`<p>${t('nothing-paid')}</p>`),
    after: shopLink(model, view.cancelUrl ?? view.returnUrl),
  });
}

export function expiredStep(model: CheckoutPageModel): Html {
  const { view, language } = model;
  const { t } = language;
  const time = html`<time datetime="${view.expiresAt.toISOString()}">${formatTime(view.expiresAt, language)}</time>`;
  return ended(model, {
    tone: 'calm',
    icon: 'clock',
    heading: t('expired'),
    body: html`<p>${t('expired-text', { time })}</p>
${whatIsKnown(model, html`<p>${t('expired-ask', { merchant: foreignText(view.merchantName) })}</p>`)}`,
    after: shopLink(model, view.cancelUrl ?? view.returnUrl),
  });
}

/** Another amount than the requested one arrived: an operator decides, and the payer must not pay again. */
export function reviewStep(model: CheckoutPageModel): Html {
  const { charge, merchantName, totalMinor, returnUrl } = model.view;
  const { t } = model.language;
  return ended(model, {
    tone: 'wait',
    icon: 'eye',
    heading: t('review'),
    body: html`<p>${t('review-text')}</p>
<dl class="lines">
<div><dt>${t('asked-for')}</dt><dd>${amountText(totalMinor)}</dd></div>
${
  typeof charge?.arrivedMinor === 'bigint' &&
  html`<div><dt>${t('arrived')}</dt><dd>${amountText(charge.arrivedMinor)}</dd></div>`
}
${charge !== null && html`<div><dt>${t('reference')}</dt><dd class="reference">${charge.transactionReference}</dd></div>`}
</dl>
<p>${t('review-keep', { merchant: foreignText(merchantName) })}</p>`,
    after: shopLink(model, returnUrl),
  });
}

/** `unpaid`, unless an attempt may still be paid or the payer may have sent the money to the shop's own number. */
function whatIsKnown(model: CheckoutPageModel, unpaid: Html): Html {
  const { charge, openPrompts } = model.view;
  const sent = [charge, ...openPrompts].find((attempt) => attempt !== null && mayBeSent(attempt));
  const prompted = openAttempts(model.view).filter(({ receivedDirectly }) => !receivedDirectly);
  if (!sent && prompted.length === 0) return unpaid;
  return html`${sent && perhapsSent(model, sent)}${prompted.length > 0 && lateApproval(model, prompted)}`;
}

/** Only the shop knows, from its message. A person who has looked gives another reason. */
function mayBeSent(attempt: OpenPrompt & Partial<Pick<CheckoutCharge, 'failureCode'>>): boolean {
  const { receivedDirectly, failureCode = null } = attempt;
  return receivedDirectly && (failureCode === null || failureCode === 'cancelled' || failureCode === 'expired');
}

function perhapsSent({ view, language: { t } }: CheckoutPageModel, sent: OpenPrompt): Html {
  const values = { merchant: foreignText(view.merchantName), network: foreignText(sent.networkName) };
  return html`<p class="notice wait">${icon('warning')}<span>${t('send-not-again')}</span></p>
<p>${t('send-closed-next', values)}</p>
<p>${t('send-closed-reference')} <b class="reference">${sent.transactionReference}</b></p>`;
}

function lateApproval({ language: { t } }: CheckoutPageModel, open: readonly OpenPrompt[]): Html {
  const networks = [...new Set(open.map(({ networkName }) => networkName))].join(', ');
  return html`<p>${t('late-approval', { network: foreignText(networks) })}</p>
${open.map(({ transactionReference }) => html`<p>${t('reference')}: <span class="reference">${transactionReference}</span></p>`)}`;
}

interface Ended {
  tone: 'bad' | 'calm' | 'wait';
  icon: IconName;
  heading: Html;
  body: Html;
  after: Html;
}

function ended({ language: { t }, appearance }: CheckoutPageModel, parts: Ended): Html {
  return html`<section class="step ended" aria-labelledby="step">
<p class="seal ${parts.tone}">${icon(parts.icon)}</p>
<h2 id="step">${parts.heading}</h2>
${parts.body}
${shopContact(t, appearance)}
${parts.after}
</section>`;
}
