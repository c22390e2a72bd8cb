import { html, type Html } from '../../kit/html.ts';
import { listKeys, type ListedKey } from '../../merchants/manage-keys.ts';
import { cleanText } from '../../pages/page-text.ts';
import { listRoute } from '../patterns/list-page.ts';
import { shownTime, stateMark, twoLines } from '../../portal/patterns/texts.ts';
import type { Visit } from '../visit.ts';
import { isOn, keyState, keyText, scopesText } from '../../portal/records/key-texts.ts';

/** Few: all are on one page, those that work first. */
export const keyList = listRoute<ListedKey>({
  path: '/keys',
  action: 'keys.manage',
  title: 'API keys',
  noun: ['key', 'keys'],
  filters: [],
  async read({ money, merchant }) {
    const keys = (await listKeys(money.db, money.clock, merchant)).toReversed();
    const rows = [...keys.filter(isOn), ...keys.filter((key) => !isOn(key))];
    return { rows, total: rows.length, nextCursor: null };
  },
  columns: [
    {
      header: 'Name',
      isMain: true,
      cell: (key, { testMode }) => html`<span class="first"><bdi>${cleanText(key.name)}</bdi></span>
<span class="second"><code>${keyText(key, testMode)}</code></span>`,
    },
    { header: 'May', cell: ({ scopes }) => scopesText(scopes) },
    { header: 'Last used', cell: lastUse },
    { header: 'Ends', cell: ({ expiresAt }, { now }) => (expiresAt === null ? 'Never' : shownTime(expiresAt, now)) },
    {
      header: 'State',
      isMain: true,
      cell: (key) => twoLines(stateMark(keyState(key)), scopesText(key.scopes)),
    },
  ],
  href: ({ id }) => `/keys/${id}`,
  first: { href: '/keys/new', text: 'New key', needs: 'keys.manage' },
  empty: { text: 'No API keys yet. Your server signs in to the API with one.' },
});

export function lastUse({ lastUse: use }: ListedKey, { now }: Visit): Html {
  if (use === null) return html`Never`;
  return html`<span class="first">${shownTime(use.usedAt, now)}</span> ${
    use.address !== null && html`<span class="second">from ${use.address}</span>`
  }`;
}
