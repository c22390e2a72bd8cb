import { html, type Html } from '../kit/html.ts';
import type { Language, Translate } from '../languages/languages.ts';
import type { CheckoutNetwork } from '../payments/checkout-view.ts';
import { fieldError } from './form-errors.ts';
import { networkMark } from './icons.ts';
import type { NetworkDetails } from './logos/network-details.ts';
import { prefixesOf } from '../kit/phone-number.ts';
import { foreignText, operatorOf } from './page-text.ts';

/** The choice of network and number, on a payment's page and on a link's with a fixed amount. */
export interface NetworkFields {
  language: Language;
  networks: readonly CheckoutNetwork[];
  details: NetworkDetails;
  /** The id of the heading over the choice. */
  headingId: string;
  /** The network that is chosen at first. */
  chosen: string | null;
  /** What the number field holds at first. */
  number: string;
  /** The number that the payer probably has, which marks its operator's wallet; empty if unknown. */
  likelyNumber: string;
  /** The last digits of the number of the attempt before, where the field does not hold it. */
  lastNumber: Html | null;
  errors: readonly { field: string | null; message: Html }[];
}

export function choiceHeading(t: Translate, networks: readonly CheckoutNetwork[]): Html {
  const [only] = networks;
  return only && networks.length === 1
    ? t('choose-one', { network: foreignText(only.displayName) })
    : t('choose-network');
}

export function networkChoice(fields: NetworkFields): Html {
  const { networks, chosen, headingId } = fields;
  const isOnly = networks.length === 1;
  const error = errorOf(fields, 'network');
  return html`<fieldset aria-labelledby="${headingId}"${error && html` aria-describedby="network-error"`}>
<div class="networks${isOnly && ' only'}">
${networks.map((network) => networkCard(fields, network, isOnly || network.id === chosen))}
</div>
${error && fieldError('network', error)}
</fieldset>`;
}

function networkCard(fields: NetworkFields, network: CheckoutNetwork, checked: boolean): Html {
  const { id, displayName, numberRequired } = network;
  return html`<div class="network"><input type="radio" name="network" value="${id}" id="network-${id}" required${
    numberRequired ? '' : html` data-no-number`
  }${checked && html` checked`}><label for="network-${id}">${networkMark(id, displayName, fields.details.logos.get(id)?.path)}<span>${displayName}${likelyMark(fields, network)}</span></label></div>
`;
}

/**
 * Marked, never chosen: a wallet may be another operator's than the number, and a number may have several. `likely-network.js` marks
 * while the number is typed.
 */
function likelyMark({ networks, likelyNumber, language: { t } }: NetworkFields, { operator }: CheckoutNetwork): Html {
  if (operator === null || networks.length === 1) return html``;
  const isLikely = operatorOf(likelyNumber) === operator;
  return html`<small data-prefixes="${prefixesOf(operator).join(' ')}"${!isLikely && html` hidden`}>${t('likely')}</small>`;
}

/** Empty if no network needs a number. */
export function numberField(fields: NetworkFields): Html {
  const { networks, number, lastNumber } = fields;
  const { t } = fields.language;
  if (networks.every((network) => !network.numberRequired)) return html``;
  const error = errorOf(fields, 'account_number');
  const withoutNumber = networks.filter((network) => !network.numberRequired).map((network) => network.displayName);
  return html`<div class="number">
<label for="number">${t('your-number')}</label>
<input id="number" name="account_number" type="tel" inputmode="tel" autocomplete="tel" maxlength="30" value="${number}" aria-describedby="${
    error && 'number-error '
  }number-hint"${error && html` aria-invalid="true" autofocus`}>
${error && fieldError('number', error)}
<p class="hint" id="number-hint">${lastNumber === null ? t('number-example') : t('number-last', { number: lastNumber })}${
    withoutNumber.length > 0 && html` ${t('number-not-for', { networks: foreignText(withoutNumber.join(', ')) })}`
  }</p>
</div>`;
}

function errorOf({ errors }: NetworkFields, field: string): Html | undefined {
  return errors.find((error) => error.field === field)?.message;
}
