import { AppError, fieldError } from '../../api/app-error.ts';
import { html, type Html } from '../../kit/html.ts';
import type { Transaction } from '../../kit/db.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import type { ConnectorKind } from '../../networks/connector-kind.ts';
import { findConnectorKind } from '../../networks/connector-kinds.ts';
import {
  checkRailAccount,
  defaultOverlapHours,
  disableRailAccount,
  enableRailAccount,
  getRailAccount,
  orderRailAccount,
  rotateRailAccount,
  type RailAccountContext,
} from '../../rail-accounts/manage-accounts.ts';
import type { RailAccount } from '../../rail-accounts/rail-account.ts';
import type { OperatorAct } from '../../audit/operator-act.ts';
import { accountAct, orderAct, rotateAct } from '../../rail-accounts/account-acts.ts';
import { actAudited } from '../audit/record.ts';
import { formRoutes, type ConsoleRoute } from '../console-route.ts';
import type { ConsoleVisit } from '../visit.ts';
import { formFields, readOrder, typedFields, typedText } from './account-form.ts';

async function load({ money }: ConsoleVisit, { params }: PageInput): Promise<RailAccount> {
  return getRailAccount(money.db, params['id'] ?? '');
}

function backTo({ name }: RailAccount) {
  return { href: `/rail-accounts/${name}`, text: 'Back to the account' };
}

/** Changes an account, with its audit entry. */
async function change(
  visit: ConsoleVisit,
  act: OperatorAct,
  run: (tx: Transaction, context: RailAccountContext) => Promise<unknown>,
): Promise<void> {
  const { context } = visit.railAccounts;
  await context.sealer.prepare();
  await actAudited(visit, act, (tx) => run(tx, context));
}

const test = formRoutes<RailAccount>({
  ...{ path: '/rail-accounts/:id/test', action: 'networks.test', load },
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
    const account = await load(visit, input);
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
    return change(visit, rotateAct(kind, account, rotation), (tx, context) =>
      rotateRailAccount(tx, context, account.name, rotation),
    );
  },
});

const disable = formRoutes<RailAccount>({
  ...{ path: '/rail-accounts/:id/disable', action: 'credentials.manage', load },
  view: (account) => ({
    heading: `Disable ${account.name}?`,
    effect: html`<p>It takes no new payments and transfers. What it has begun is looked up, and its callbacks are read.</p>`,
    refusal: refusalIf(account.disabledAt !== null, html`<p>It is disabled already.</p>`),
    button: 'Disable it',
    isDanger: true,
    back: backTo(account),
  }),
  submit: (visit, { subject }) =>
    change(visit, accountAct('networks.disable', subject), (tx, context) =>
      disableRailAccount(tx, context, subject.name),
    ),
});

const enable = formRoutes<RailAccount>({
  ...{ path: '/rail-accounts/:id/enable', action: 'credentials.manage', load },
  view: (account) => ({
    heading: `Enable ${account.name}?`,
    effect: html`<p>It takes payments and transfers again.</p>`,
    refusal: refusalIf(account.disabledAt === null, html`<p>It is not disabled.</p>`),
    button: 'Enable it',
    back: backTo(account),
  }),
  submit: (visit, { subject }) =>
    change(visit, accountAct('networks.enable', subject), (tx, context) =>
      enableRailAccount(tx, context, subject.name),
    ),
});

const order = formRoutes<RailAccount>({
  ...{ path: '/rail-accounts/:id/order', action: 'credentials.manage', load },
  view: (account) => ({
    heading: `Order of ${account.name}`,
    effect: html`<p>Of several accounts for a network the lowest number goes first. By default: 10 a business’s own API, 20 the
operator’s API, 30 a business’s own receipts.</p>`,
    fields: [{ kind: 'text', name: 'order', label: 'Order', hint: 'From 1 to 1000; empty for the default' }],
    values: { order: account.position === null ? '' : String(account.position) },
    button: 'Save the order',
    back: backTo(account),
  }),
  submit: (visit, { subject, input: { form } }) => {
    const position = readOrder(typedText(form, 'order'));
    return change(visit, orderAct(subject, position), (tx, context) =>
      orderRailAccount(tx, context, subject.name, position),
    );
  },
});

function refusalIf(isRefused: boolean, text: Html): Html | undefined {
  return isRefused ? text : undefined;
}

export const accountActions: readonly ConsoleRoute[] = [...test, ...rotate, ...disable, ...enable, ...order];
