import { AppError, fieldError } from '../../api/app-error.ts';
import { html, type Html } from '../../kit/html.ts';
import { networkName } from '../../networks/known-networks.ts';
import { loadTemplates } from '../../networks/receipts/load-templates.ts';
import { matchMessage, type Receipt } from '../../networks/receipts/match-message.ts';
import { receiptInWords, unconfirmedText } from '../../networks/receipts/receipt-in-words.ts';
import { foreignText } from '../../pages/page-text.ts';
import { facts } from '../../portal/patterns/record-page.ts';
import { formRoutes } from '../console-route.ts';

/** As `receipts try`: reads a network's message to a shop by the templates. Nothing is stored. */
export const messagePage = formRoutes<{ network: string }>({
  path: '/networks/:network/message',
  action: 'records.read',
  async load({ money, environment }, { params }) {
    const connectors = money.networks.list(environment === 'test');
    const connector = connectors.find(({ capabilities }) => capabilities.network === params['network']);
    if (!connector) throw new AppError('not_found', 'There is no such network in this environment.');
    return { network: connector.capabilities.network };
  },
  view: ({ network }) => ({
    heading: 'Read a message',
    effect: html`<p>A message of ${networkName(network)} to a shop’s phone, read as a forwarded one would be. Nothing is stored.</p>`,
    fields: [
      { kind: 'area', name: 'text', label: 'Message', isRequired: true },
      {
        kind: 'text',
        name: 'sender',
        label: 'Sender, as the phone shows it',
        hint: 'Leave empty to let any sender pass.',
      },
    ],
    button: 'Read it',
    back: { href: `/networks/${network}`, text: 'Back to the network' },
  }),
  async submit({ receiptTemplates, base }, { subject: { network }, input: { form } }) {
    const templates = loadTemplates(receiptTemplates).filter((template) => template.network === network);
    const text = (form['text'] ?? '').trim();
    if (text === '') throw fieldError('invalid_request', 'text', 'Paste the message.');
    const sender = (form['sender'] ?? '').trim() || null;
    const receipt = matchMessage(templates, { network, sender, text });
    const tried = templates.map(({ name }) => name).join(', ');
    const body = html`<div class="narrow-form"><h1>${receipt ? 'This template fits' : 'No template fits'}</h1><section class="panel">${
      receipt
        ? receiptFacts(receipt)
        : html`<p>Tried: ${tried || 'none'}. Add one to <code>RECEIPT_TEMPLATES</code>.</p>`
    }<p class="actions"><a class="button small" href="${base}/networks/${network}/message">Read another message</a></p></section></div>`;
    return { title: 'Read a message', body };
  },
});

function receiptFacts(receipt: Receipt): Html {
  const named = receiptInWords(receipt).map(
    ([name, value]) => [`${name.charAt(0).toUpperCase()}${name.slice(1)}`, value && foreignText(value)] as const,
  );
  return html`${facts(named)}${!receipt.template.confirmed && html`<p class="hint">${unconfirmedText}</p>`}`;
}
