import { html, type Html } from '../../kit/html.ts';
import { dalasi, percentToJson, roundUpToWhole } from '../../kit/money.ts';
import type { Translate } from '../../languages/languages.ts';
import type { CollectionFee } from '../../merchants/fees.ts';
import { amountText } from '../page-text.ts';

/** The fee that the customer pays on top of an amount that is still to be entered; empty if there is none. */
export function feeRuleLine(t: Translate, rule: CollectionFee): Html {
  const { percentHundredths, fixedMinor, minimumMinor, maximumMinor } = rule;
  if (rule.payer !== 'customer' || maximumMinor === 0n) return html``;
  const isFlat = percentHundredths === 0n;
  if (isFlat) return flatFee(t, minimumMinor > fixedMinor ? minimumMinor : fixedMinor, maximumMinor);
  const percent = html`<span class="unbroken">${percentToJson(percentHundredths)} %</span>`;
  const values = { percent, fixed: amountText(fixedMinor) };
  return html`<p class="hint">${t(fixedMinor === 0n ? 'fee-percent' : 'fee-percent-fixed', values)}${
    minimumMinor > fixedMinor && html` ${t('fee-minimum', { amount: amountText(minimumMinor) })}`
  }${maximumMinor !== null && html` ${t('fee-maximum', { amount: amountText(maximumMinor) })}`}</p>`;
}

function flatFee(t: Translate, ruleMinor: bigint, maximumMinor: bigint | null): Html {
  const feeMinor = maximumMinor !== null && ruleMinor > maximumMinor ? maximumMinor : ruleMinor;
  if (feeMinor === 0n) return html``;
  if (maximumMinor !== null && roundUpToWhole(feeMinor) > maximumMinor) {
    // A whole amount costs fewer dalasi than another one.
    return html`<p class="hint">${t('fee-maximum', { amount: amountText(maximumMinor) })}</p>`;
  }
  const key = feeMinor % dalasi === 0n ? 'fee-fixed' : 'fee-fixed-rounded';
  return html`<p class="hint">${t(key, { fixed: amountText(feeMinor) })}</p>`;
}
