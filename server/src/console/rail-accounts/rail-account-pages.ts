import { AppError, fieldError } from '../../api/app-error.ts';
import { html, type Html } from '../../kit/html.ts';
import type { ConnectorKind } from '../../networks/connector-kind.ts';
import { connectorKinds, findConnectorKind } from '../../networks/connector-kinds.ts';
import { callbackPath, messagePath } from '../../networks/registry.ts';
import { changedMeanwhile } from '../../portal/patterns/form-page.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import { copyable, facts, recordHead } from '../../portal/patterns/record-page.ts';
import { shownTime } from '../../portal/patterns/texts.ts';
import {
  addRailAccount,
  getRailAccount,
  checkRailAccount,
  defaultOverlapHours,
  disableRailAccount,
  enableRailAccount,
  lockAccount,
  orderRailAccount,
  rotateRailAccount,
  type RailAccountContext,
} from '../../rail-accounts/manage-accounts.ts';
import { phoneProblems, readPhoneStatuses, type PhoneStatus } from '../../receipts/phones.ts';
import type { RailAccount } from '../../rail-accounts/rail-account.ts';
import { addAct, accountAct, orderAct, rotateAct } from '../../rail-accounts/account-acts.ts';
import { audit } from '../audit/record.ts';
import { listBusinesses } from '../businesses/business.ts';
import { formRoutes, type ConsoleRoute } from '../console-route.ts';
import type { ConsoleVisit } from '../visit.ts';
import { formFields, readBusiness, readOrder, typedFields, typedText } from './account-form.ts';
import { accountList, accountState, kindText, networksText, ownerText, problemOf } from './account-list.ts';
import type { Transaction } from '../../kit/db.ts';
import type { OperatorAct } from '../../audit/operator-act.ts';

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
    const fields = typedFields(kind, form);
    const request = {
      ...{ kind: kind.name, name: form['name']?.trim() ?? '', testMode: form['environment'] === 'test', fields },
      businessId: await readBusiness(visit, typedText(form, 'business')),
      baseUrl: typedText(form, 'base-url'),
      position: readOrder(typedText(form, 'order')),
    };
    await change(visit, async (tx, context) => addAct(kind, await addRailAccount(tx, context, request), fields));
    return `/rail-accounts/${request.name}`;
  },
});

const show: ConsoleRoute = {
  path: '/rail-accounts/:id',
  action: 'records.read',
  async handle(visit, input) {
    const account = await loadAccount(visit, input);
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

async function loadAccount({ money }: ConsoleVisit, { params }: PageInput): Promise<RailAccount> {
  return getRailAccount(money.db, params['id'] ?? '');
}

function backTo({ name }: RailAccount) {
  return { href: `/rail-accounts/${name}`, text: 'Back to the account' };
}

/** Runs a change of an account in a transaction with the audit entry that it returns. */
async function change(
  visit: ConsoleVisit,
  run: (tx: Transaction, context: RailAccountContext) => Promise<OperatorAct>,
): Promise<void> {
  const { context } = visit.railAccounts;
  await context.db.withTransaction(async (tx) => audit(tx, visit, await run(tx, context)));
}

const test = formRoutes<RailAccount>({
  ...{ path: '/rail-accounts/:id/test', action: 'networks.test', load: loadAccount },
  view: (account) => ({
    heading: `Test ${account.name}`,
    effect: html`<p>Makes one call that moves nothing, with the stored address and credentials.</p>`,
    button: 'Test it',
    back: backTo(account),
  }),
  async submit(visit, { subject: { name } }) {
    const { works, text } = await checkRailAccount(visit.railAccounts.context, name);
    const body = html`<header class="head"><h1>${name} ${works ? 'works' : 'does not work'}</h1></header>
<p class="notice ${works ? 'good' : 'bad'}">${text}</p>
<p><a href="${visit.base}/rail-accounts/${name}">Back to the account</a></p>`;
    return { title: `Test of ${name}`, body };
  },
});

interface Rotated {
  account: RailAccount;
  kind: ConnectorKind;
}

const overlapHoursMax = 31 * 24;

const rotate = formRoutes<Rotated>({
  path: '/rail-accounts/:id/rotate',
  action: 'credentials.manage',
  async load(visit, input) {
    const account = await loadAccount(visit, input);
    const kind = findConnectorKind(account.kind);
    if (!kind) throw new AppError('not_found', `This version of the service does not speak ${account.kind}.`);
    return { account, kind };
  },
  view: ({ account, kind }) => ({
    heading: `Replace credentials of ${account.name}`,
    effect: html`<p>What you leave empty stays. Calls use the new values at once; the old secrets verify callbacks until the overlap ends.</p>`,
    fields: [
      ...formFields(kind, { isNew: false }),
      { kind: 'number', name: 'overlap', label: 'Overlap in hours', isRequired: true },
    ],
    values: { overlap: String(defaultOverlapHours) },
    button: 'Replace them',
    back: backTo(account),
  }),
  async submit(visit, { subject: { account, kind }, input: { form } }) {
    const fields = typedFields(kind, form);
    const baseUrl = typedText(form, 'base-url');
    const hours = typedText(form, 'overlap') ?? '';
    if (!/^\d{1,3}$/.test(hours) || Number(hours) > overlapHoursMax) {
      throw fieldError('invalid_request', 'overlap', `Type a number of hours from 0 to ${overlapHoursMax}.`);
    }
    const rotation = { baseUrl, fields, overlapMs: Number(hours) * 3_600_000 };
    return change(visit, async (tx, context) => {
      const before = await lockAccount(tx, account.name);
      await rotateRailAccount(tx, context, account.name, rotation);
      return rotateAct(kind, before, rotation);
    });
  },
});

const disable = formRoutes<RailAccount>({
  ...{ path: '/rail-accounts/:id/disable', action: 'credentials.manage', load: loadAccount },
  view: (account) => ({
    heading: `Disable ${account.name}?`,
    effect: html`<p>It takes no new payments and transfers. What it has begun is looked up, and its callbacks are read.</p>`,
    refusal: refusalIf(account.disabledAt !== null, html`<p>It is disabled already.</p>`),
    button: 'Disable it',
    isDanger: true,
    back: backTo(account),
  }),
  submit: (visit, { subject }) =>
    change(visit, async (tx, context) =>
      accountAct('networks.disable', await disableRailAccount(tx, context, subject.name)),
    ),
});

const enable = formRoutes<RailAccount>({
  ...{ path: '/rail-accounts/:id/enable', action: 'credentials.manage', load: loadAccount },
  view: (account) => ({
    heading: `Enable ${account.name}?`,
    effect: html`<p>It takes payments and transfers again.</p>`,
    refusal: refusalIf(account.disabledAt === null, html`<p>It is not disabled.</p>`),
    button: 'Enable it',
    back: backTo(account),
  }),
  submit: (visit, { subject }) =>
    change(visit, async (tx, context) =>
      accountAct('networks.enable', await enableRailAccount(tx, context, subject.name)),
    ),
});

const order = formRoutes<RailAccount>({
  ...{ path: '/rail-accounts/:id/order', action: 'credentials.manage', load: loadAccount },
  view: (account) => ({
    heading: `Order of ${account.name}`,
    effect: html`<p>Of several accounts for a network the lowest number goes first. By default: 10 a business’s own API, 20 the
operator’s API, 30 a business’s own receipts.</p>`,
    fields: [{ kind: 'text', name: 'order', label: 'Order', hint: 'From 1 to 1000; empty for the default' }],
    values: { order: account.position === null ? '' : String(account.position) },
    button: 'Save the order',
    back: backTo(account),
  }),
  async submit(visit, { subject, input: { form } }) {
    const position = readOrder(typedText(form, 'order'));
    const { context } = visit.railAccounts;
    await context.db.withTransaction(async (tx) => {
      const before = await orderRailAccount(tx, context, subject.name, position);
      if (before.position === position) return;
      // Two who were shown the same may press at the same moment.
      if (before.position !== subject.position) throw changedMeanwhile;
      audit(tx, visit, orderAct(before, position));
    });
  },
});

function refusalIf(isRefused: boolean, text: Html): Html | undefined {
  return isRefused ? text : undefined;
}

export const railAccountPages: readonly ConsoleRoute[] = [
  accountList,
  choose,
  ...add,
  show,
  ...test,
  ...rotate,
  ...disable,
  ...enable,
  ...order,
];
