import { AppError } from '../../api/app-error.ts';
import { html } from '../../kit/html.ts';
import type { ConnectorKind } from '../../networks/connector-kind.ts';
import { connectorKinds, findConnectorKind } from '../../networks/connector-kinds.ts';
import { callbackPath, messagePath } from '../../networks/registry.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import { copyable, facts, recordHead } from '../../portal/patterns/record-page.ts';
import { shownTime } from '../../portal/patterns/texts.ts';
import { addRailAccount, getRailAccount } from '../../rail-accounts/manage-accounts.ts';
import { phoneProblems, readPhoneStatuses, type PhoneStatus } from '../../receipts/phones.ts';
import type { RailAccount } from '../../rail-accounts/rail-account.ts';
import { addAct } from '../../rail-accounts/account-acts.ts';
import { audit } from '../audit/record.ts';
import { listBusinesses } from '../businesses/business.ts';
import { formRoutes, type ConsoleRoute } from '../console-route.ts';
import type { ConsoleVisit } from '../visit.ts';
import { accountActions } from './account-actions.ts';
import { formFields, readBusiness, readOrder, typedFields, typedText } from './account-form.ts';
import { accountList, accountState, kindText, networksText, ownerText, problemOf } from './account-list.ts';

const choose: ConsoleRoute = {
  path: '/rail-accounts/new',
  action: 'credentials.manage',
  async handle({ base }) {
    const body = html`<header class="head"><h1>Connect an account</h1></header>
<section class="panel"><h2>What does it speak?</h2><ul class="links">${connectorKinds.map(
      ({ name, displayName }) => html`<li><a href="${base}/rail-accounts/new/${name}">${displayName}</a></li>`,
    )}</ul></section><p><a href="${base}/rail-accounts">Back to the rail accounts</a></p>`;
    return { title: 'Connect an account', body };
  },
};

interface NewAccount {
  kind: ConnectorKind;
  businesses: readonly { id: string; name: string }[];
}

async function loadNew(visit: ConsoleVisit, { params }: PageInput): Promise<NewAccount> {
  const kind = findConnectorKind(params['kind'] ?? '');
  if (!kind) throw new AppError('not_found', 'There is no such kind of account.');
  return { kind, businesses: await listBusinesses(visit) };
}

const add = formRoutes<NewAccount>({
  path: '/rail-accounts/new/:kind',
  action: 'credentials.manage',
  load: loadNew,
  view: ({ kind, businesses }) => ({
    heading: `Connect ${kind.displayName}`,
    effect: html`<p>Payments and payouts go through it at once. Name, environment and owner never change.</p>`,
    fields: [
      {
        kind: 'text',
        name: 'name',
        label: 'Name',
        isRequired: true,
        hint: 'Small letters, digits and hyphens, such as wave-main. It stands in the callback URL',
      },
      {
        kind: 'select',
        name: 'environment',
        label: 'Environment',
        options: [
          { value: 'live', text: 'Live' },
          { value: 'test', text: 'Test' },
        ],
      },
      {
        kind: 'select',
        name: 'business',
        label: 'For',
        options: [
          { value: '', text: kind.needsBusiness ? 'Choose a business' : 'All businesses' },
          ...businesses.map(({ id, name }) => ({ value: id, text: name })),
        ],
      },
      ...formFields(kind, { isNew: true }),
      { kind: 'text', name: 'order', label: 'Order', hint: 'The lowest goes first; empty for the default' },
    ],
    button: 'Connect it',
    back: { href: '/rail-accounts', text: 'Back to the rail accounts' },
  }),
  async submit(visit, { subject: { kind }, input: { form } }) {
    const { context } = visit.railAccounts;
    const fields = typedFields(kind, form);
    const request = {
      ...{ kind: kind.name, name: form['name']?.trim() ?? '', testMode: form['environment'] === 'test', fields },
      businessId: await readBusiness(visit, typedText(form, 'business')),
      baseUrl: typedText(form, 'base-url'),
      position: readOrder(typedText(form, 'order')),
    };
    await context.sealer.prepare();
    await context.db.withTransaction(async (tx) => {
      const account = await addRailAccount(tx, context, request);
      audit(tx, visit, addAct(kind, account, fields));
    });
    return `/rail-accounts/${request.name}`;
  },
});

const show: ConsoleRoute = {
  path: '/rail-accounts/:id',
  action: 'records.read',
  async handle(visit, { params }) {
    const account = await getRailAccount(visit.money.db, params['id'] ?? '');
    const owner = (await listBusinesses(visit)).find(({ id }) => id === account.businessId);
    const problem = problemOf(visit, account);
    const { name, kind, testMode, baseUrl, position, settings } = account;
    const isReceipts = findConnectorKind(kind)?.source === 'receipts';
    const [status] = await readPhoneStatuses(visit.money.db, [account], visit.now);
    const reportPath = isReceipts ? messagePath(name) : callbackPath(name);
    const reportUrl = `${visit.railAccounts.publicUrl()}${reportPath}`;
    const body = html`${recordHead(visit, { heading: name, state: accountState(account, problem), actions: actionsOf(account) })}
${problem !== null && html`<p class="notice bad">${problem}</p>`}
${status && phoneProblems(status).map(({ reason }) => html`<p class="notice bad">${reason}</p>`)}
<section class="panel"><h2>Details</h2>${facts([
      ['Speaks', kindText(kind)],
      ['Environment', testMode ? 'Test' : 'Live'],
      ['Networks', networksText(account)],
      ['For', ownerText(account, owner)],
      ['Base URL', baseUrl],
      [isReceipts ? 'Messages URL' : 'Callback URL', copyable(reportUrl)],
      ...(status ? [['Last message', lastMessage(status, visit.now)] as const] : []),
      ['Order', position === null ? 'Default' : String(position)],
      ['Disabled', account.disabledAt && shownTime(account.disabledAt, visit.now)],
      ['Changed', shownTime(account.updatedAt, visit.now)],
      ['Credentials', 'Stored encrypted; nobody can read them here'],
    ])}</section>
<details><summary>Settings</summary><pre>${JSON.stringify(settings, null, 2)}</pre></details>
<p><a href="${visit.base}/rail-accounts">All rail accounts</a></p>`;
    return { title: name, body };
  },
};

function lastMessage({ phone }: PhoneStatus, now: Date) {
  return phone?.messageAt ? shownTime(phone.messageAt, now) : 'None yet';
}

function actionsOf({ name, disabledAt }: RailAccount) {
  const head = `/rail-accounts/${name}`;
  const manage = 'credentials.manage' as const;
  return [
    { href: `${head}/test`, text: 'Test', needs: 'networks.test' as const },
    { href: `${head}/rotate`, text: 'Replace credentials', needs: manage },
    { href: `${head}/order`, text: 'Order', needs: manage },
    disabledAt === null
      ? { href: `${head}/disable`, text: 'Disable', needs: manage, isDanger: true }
      : { href: `${head}/enable`, text: 'Enable', needs: manage },
  ];
}

export const railAccountPages: readonly ConsoleRoute[] = [accountList, choose, ...add, show, ...accountActions];
