import type { KeyScope } from '../../api/key-scope.ts';
import { html, type Html } from '../../kit/html.ts';
import type { ListedKey } from '../../merchants/manage-keys.ts';
import { foreignText } from '../../pages/page-text.ts';
import type { StateMark } from '../patterns/texts.ts';

export const scopeTexts: Record<KeyScope, string> = {
  read: 'Read: see payments, transfers and records',
  charge: 'Charge: create payments, links, customers, endpoints',
  payout: 'Pay out: transfers and refunds, which take money from your balance',
};

const shortScopes: Record<KeyScope, string> = { read: 'Read', charge: 'Charge', payout: 'Pay out' };

export function scopesText(scopes: readonly KeyScope[]): string {
  return scopes.map((scope) => shortScopes[scope]).join(', ');
}

/** A key as people recognize it: how it begins and ends. */
export function keyText({ lastFour }: Pick<ListedKey, 'lastFour'>, testMode: boolean): string {
  return `sk_${testMode ? 'test' : 'live'}_…${lastFour}`;
}

export function namedKey(key: ListedKey, testMode: boolean): Html {
  return html`<p>${foreignText(key.name)}, <code>${keyText(key, testMode)}</code>.</p>`;
}

export function isOn({ state }: ListedKey): boolean {
  return state !== 'revoked' && state !== 'expired';
}

export function keyState({ state, rolledTo }: ListedKey): StateMark {
  switch (state) {
    case 'revoked':
      return { tone: 'calm', icon: 'cross', text: 'Revoked' };
    case 'expired':
      return { tone: 'calm', icon: 'cross', text: rolledTo === null ? 'Expired' : 'Rolled' };
    case 'expires':
      return { tone: 'wait', icon: 'clock', text: rolledTo === null ? 'On, expires' : 'Rolled, ends soon' };
    case 'idle':
      return { tone: 'bad', icon: 'warning', text: 'Not used for 90 days: revoke it' };
    case 'active':
      return { tone: 'good', icon: 'check', text: 'On' };
  }
}
