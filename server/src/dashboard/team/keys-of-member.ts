import { listActorsOn } from '../../audit/record-audit.ts';
import { html, type Html } from '../../kit/html.ts';
import { listKeys, type ListedKey } from '../../merchants/manage-keys.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import { foreignText } from '../../pages/page-text.ts';
import { isOn, keyText } from '../../portal/records/key-texts.ts';
import { basePath, type Visit } from '../visit.ts';

interface MemberKey {
  key: ListedKey;
  merchant: Merchant;
}

/** The keys of both environments that work and were shown to this person, who created or rolled them. */
export async function listKeysShownTo({ money, accounts, merchant }: Visit, accountId: string): Promise<MemberKey[]> {
  const { businessId } = merchant;
  const working: MemberKey[] = [];
  for (const each of await money.merchants.ofBusiness(businessId)) {
    const keys = (await listKeys(money.db, money.clock, each)).filter(isOn);
    working.push(...keys.map((key) => ({ key, merchant: each })));
  }
  const objectIds = working.map(({ key }) => key.id);
  const actors = await listActorsOn(accounts.db, businessId, { objectIds, actions: ['keys.create', 'keys.roll'] });
  const shown = new Set(actors.filter(({ actorId }) => actorId === accountId).map(({ objectId }) => objectId));
  return working.filter(({ key }) => shown.has(key.id));
}

/** That a role ends no key: whoever has copied one goes on with it, also without a login. */
export function keysGoOn(keys: readonly MemberKey[]): Html {
  if (keys.length === 0) return html``;
  return html`<div class="notice wait"><div><p>These API keys were shown to them when they made them, and go on working. Roll or
revoke what they may have copied:</p><ul>${keys.map(({ key, merchant: { testMode, shortId } }) => {
    const href = `${basePath(testMode ? 'test' : 'live', shortId)}/keys/${key.id}`;
    return html`<li><a href="${href}">${foreignText(key.name)}, <code>${keyText(key, testMode)}</code></a></li>`;
  })}</ul></div></div>`;
}
