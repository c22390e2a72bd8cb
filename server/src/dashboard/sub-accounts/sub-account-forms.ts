import { prepareOwnerMails } from '../../accounts/owner-mails.ts';
import { apiForm, deletionForm } from '../patterns/api-form.ts';
import { html } from '../../kit/html.ts';
import type { Transaction } from '../../kit/db.ts';
import { formatAmount, percentToJson } from '../../kit/money.ts';
import { maskPhoneNumber } from '../../kit/phone-number.ts';
import { cleanText, foreignText } from '../../pages/page-text.ts';
import { networkName } from '../../networks/known-networks.ts';
import { subAccountSchema } from '../../sub-accounts/sub-account-wire.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import type { Field, Option } from '../../portal/patterns/fields.ts';
import type { Visit } from '../visit.ts';
import { payoutNetworks, readSubAccount, type FoundSubAccount } from './read-sub-account.ts';

const nameField: Field = { kind: 'text', name: 'name', label: 'Name', isRequired: true };
const shareField: Field = {
  ...{ kind: 'number', name: 'percentage', label: 'Share of each payment, in percent', isRequired: true },
  hint: 'Such as 20 or 12.5. It applies to payments that name this sub-account on its own.',
};

function destinationFields(networks: readonly Option[]): Field[] {
  return [
    { kind: 'select', name: 'settlement_code', label: 'Network', options: networks, isRequired: true },
    { kind: 'tel', name: 'account_number', label: 'Number at that network', isRequired: true },
  ];
}

const shared = { action: 'sub_accounts.write', object: 'sub_account', list: '/sub-accounts' } as const;
const ofSubAccount = { ...shared, id: ({ subAccount }: FoundSubAccount) => subAccount.id };

const create = apiForm<Option[]>({
  ...{ ...shared, path: '/sub-accounts/new', operation: 'createSubAccount', schema: subAccountSchema },
  load: async (visit) => payoutNetworks(visit),
  view: (networks) => ({
    heading: 'New sub-account',
    ...(networks.length === 0 && {
      refusal: html`<p>No network pays out in this environment yet, so a sub-account could not be paid. Ask the operator.</p>`,
    }),
    fields: [nameField, shareField, ...destinationFields(networks)],
    button: 'Create the sub-account',
    back: { href: '/sub-accounts', text: 'Back to the sub-accounts' },
  }),
  alsoWrite: (visit, { body }) => ownersMail(visit, `added the sub-account ${cleanText(String(body['name']))}`, body),
});

const edit = apiForm<FoundSubAccount>({
  ...{ ...ofSubAccount, path: '/sub-accounts/:id/edit', operation: 'updateSubAccount', schema: subAccountSchema },
  load: (visit, { params }) => readSubAccount(visit, params['id']),
  view: ({ subAccount }) => ({
    heading: 'Change the sub-account',
    effect: html`<p>Payments that exist already keep their split.
<a href="destination">Change where it is paid out</a> on a page of its own.</p>`,
    fields: [
      nameField,
      shareField,
      {
        ...{ kind: 'checkbox', name: 'active', label: 'On: takes part in new payments' },
        hint: 'Off, new payments that name it are refused. It keeps its balance.',
      },
    ],
    values: {
      name: subAccount.name,
      percentage: String(percentToJson(subAccount.percentHundredths)),
      active: String(subAccount.active),
    },
    button: 'Save',
    back: { href: `/sub-accounts/${subAccount.id}`, text: 'Keep it as it is' },
  }),
  before: ({ subAccount: { name, percentHundredths, active } }) => ({
    ...{ name, percentage: percentToJson(percentHundredths), active },
  }),
});

interface Destination extends FoundSubAccount {
  networks: Option[];
}

/** Whoever changes a destination redirects money, so it has its own page, which asks for the second factor each time. */
const destination = apiForm<Destination>({
  ...{ ...ofSubAccount, path: '/sub-accounts/:id/destination', action: 'sub_accounts.change_destination' },
  ...{ operation: 'updateSubAccount', schema: subAccountSchema },
  load: async (visit, { params }) => ({
    ...(await readSubAccount(visit, params['id'])),
    networks: payoutNetworks(visit),
  }),
  view: ({ subAccount, destination: current, settledMinor, pendingMinor, networks }) => ({
    heading: 'Change where it is paid out',
    effect: html`<p>${foreignText(subAccount.name)} is paid out to <strong>${current}</strong> now.</p>
<p>Its ${formatAmount(settledMinor + pendingMinor)}, and all that comes, will go to the new number. Payouts that are on their
way go to the old one.</p><p>All owners get a mail. In live, payouts to the new number begin after a day.</p>`,
    fields: destinationFields(networks),
    values: { settlement_code: subAccount.settlementCode },
    button: 'Change the destination',
    back: { href: `/sub-accounts/${subAccount.id}`, text: 'Keep it as it is' },
  }),
  before: ({ subAccount: { settlementCode, accountNumber } }) => ({
    ...{ settlement_code: settlementCode, account_number: accountNumber },
  }),
  alsoWrite: (visit, { subject: { subAccount }, body }) =>
    ownersMail(visit, `changed where ${cleanText(subAccount.name)} is paid out`, body),
});

/** Mails all owners about a new destination, in the transaction of the change. */
function ownersMail(
  { accounts, merchant, account, base, testMode }: Visit,
  what: string,
  { settlement_code: network, account_number: number }: Record<string, unknown>,
): Promise<(tx: Transaction) => void> {
  const environment = testMode ? 'the test environment' : 'LIVE';
  const where = `${networkName(String(network))} ${maskPhoneNumber(String(number))}`;
  return prepareOwnerMails(accounts.db, accounts, merchant.businessId, {
    subject: 'New payout destination',
    what: `${cleanText(account.name)} ${what}, in ${environment}. Its money now goes to ${where}.`,
    path: `${base}/sub-accounts`,
  });
}

const remove = deletionForm<FoundSubAccount>({
  ...{ ...ofSubAccount, path: '/sub-accounts/:id/delete', operation: 'deleteSubAccount' },
  before: ({ subAccount: { name } }) => ({ name }),
  load: (visit, { params }) => readSubAccount(visit, params['id']),
  view: ({ subAccount }) => ({
    heading: 'Delete this sub-account?',
    effect: html`<p>${foreignText(subAccount.name)} gets no more payments. Its history stays in your payments and statements.</p>
<p>This cannot be undone. To stop it for a time, switch it off instead.</p>`,
    button: 'Delete sub-account',
  }),
});

export const subAccountForms: readonly DashboardRoute[] = [...create, ...edit, ...destination, ...remove];
