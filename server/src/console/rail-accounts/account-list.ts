import { html, type Html } from '../../kit/html.ts';
import { findConnectorKind } from '../../networks/connector-kinds.ts';
import { networkName } from '../../networks/known-networks.ts';
import { foreignText } from '../../pages/page-text.ts';
import { stateMark, type StateMark } from '../../portal/patterns/texts.ts';
import { listRailAccounts, networksOfAccount } from '../../rail-accounts/manage-accounts.ts';
import type { RailAccount } from '../../rail-accounts/rail-account.ts';
import { listBusinesses } from '../businesses/business.ts';
import { listRoute } from '../console-route.ts';
import type { ConsoleServices } from '../services.ts';

interface AccountRow extends RailAccount {
  id: string;
  owner: string | null;
  problem: string | null;
}

export const accountList = listRoute<AccountRow>({
  path: '/rail-accounts',
  action: 'records.read',
  title: 'Rail accounts',
  noun: ['rail account', 'rail accounts'],
  filters: [],
  async read(visit) {
    const names = new Map((await listBusinesses(visit)).map(({ id, name }) => [id, name]));
    const problems = new Map(visit.railAccounts.connected.list().map((each) => [each.account.name, each.problem]));
    const rows = (await listRailAccounts(visit.money.db)).map((account) => ({
      ...account,
      id: account.name,
      owner: account.businessId === null ? null : (names.get(account.businessId) ?? account.businessId),
      problem: problems.get(account.name) ?? null,
    }));
    return { rows, total: rows.length, nextCursor: null };
  },
  columns: [
    { header: 'Name', isMain: true, cell: ({ name, testMode }) => html`${name}${testMode && ' (test)'}` },
    { header: 'Speaks', cell: ({ kind }) => kindText(kind) },
    { header: 'Networks', cell: networksText },
    { header: 'For', cell: ({ owner }) => (owner === null ? 'All businesses' : foreignText(owner)) },
    { header: 'State', isMain: true, cell: (row) => stateMark(accountState(row, row.problem)) },
  ],
  href: ({ name }) => `/rail-accounts/${name}`,
  empty: { text: 'Nothing is connected yet: live payments are refused.' },
  buttons: [{ href: '/rail-accounts/new', text: 'Connect an account', needs: 'credentials.manage' }],
});

export function networksText(account: RailAccount): string {
  return networksOfAccount(account).map(networkName).join(', ');
}

export function kindText(kind: string): string {
  return findConnectorKind(kind)?.displayName ?? kind;
}

/** Why this process has not connected the account; null where it has. */
export function problemOf({ railAccounts }: ConsoleServices, { name }: RailAccount): string | null {
  return railAccounts.connected.list().find(({ account }) => account.name === name)?.problem ?? null;
}

export function accountState({ disabledAt }: RailAccount, problem: string | null): StateMark {
  if (problem !== null) return { tone: 'bad', icon: 'warning', text: 'Not connected' };
  if (disabledAt !== null) return { tone: 'calm', icon: 'cross', text: 'Disabled' };
  return { tone: 'good', icon: 'check', text: 'On' };
}

export function ownerText(account: RailAccount, owner: { id: string; name: string } | undefined): Html {
  if (account.businessId === null) return html`All businesses`;
  return owner
    ? html`<a href="/operator/businesses/${owner.id}">${foreignText(owner.name)}</a>`
    : html`${account.businessId}`;
}
