import { normalizedEmail } from '../../accounts/account.ts';
import { operatorPermission, operatorRoles, type OperatorRole } from '../../accounts/permissions.ts';
import { checkName } from '../../accounts/sign-up.ts';
import { AppError, fieldError } from '../../api/app-error.ts';
import { html } from '../../kit/html.ts';
import {
  createOperator,
  listOperatorLogins,
  listOperators,
  lockOperatorsAsAdmin,
  updateOperatorRole,
} from '../../operators/manage-operators.ts';
import type { Operator } from '../../operators/operator.ts';
import { foreignText } from '../../pages/page-text.ts';
import type { Field } from '../../portal/patterns/fields.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import { facts, recordHead } from '../../portal/patterns/record-page.ts';
import { secretPage } from '../../portal/patterns/shown-once.ts';
import { roleName, shownTime, stateMark, type StateMark } from '../../portal/patterns/texts.ts';
import { actAudited, audit } from '../audit/record.ts';
import { formRoutes, listRoute, type ConsoleRoute } from '../console-route.ts';
import type { ConsoleVisit } from '../visit.ts';
import { createLogin } from './create-login.ts';
import { endInvitations, endOperator } from './end-operator.ts';

interface OperatorRow extends Operator {
  /** Null for whoever has a credential for commands only. */
  role: OperatorRole | null;
}

async function listRows({ money }: ConsoleVisit): Promise<OperatorRow[]> {
  const logins = new Map(
    (await listOperatorLogins(money.db)).map(({ operatorId, role }) => [
      operatorId,
      operatorRoles.find((each) => each === role),
    ]),
  );
  return (await listOperators(money.db)).map((each) => ({ ...each, role: logins.get(each.id) ?? null }));
}

async function findRow(visit: ConsoleVisit, { params }: PageInput): Promise<OperatorRow> {
  const found = (await listRows(visit)).find(({ id }) => id === params['id']);
  if (!found) throw new AppError('not_found', 'There is no such operator.');
  return found;
}

function stateOf({ revokedAt }: Operator): StateMark {
  return revokedAt === null
    ? { tone: 'good', icon: 'check', text: 'On' }
    : { tone: 'calm', icon: 'cross', text: 'Revoked' };
}

const list = listRoute<OperatorRow>({
  path: '/operators',
  action: 'records.read',
  title: 'Operators',
  noun: ['operator', 'operators'],
  filters: [],
  async read(visit) {
    const rows = await listRows(visit);
    return { rows, total: rows.length, nextCursor: null };
  },
  columns: [
    { header: 'Name', isMain: true, cell: ({ name }) => foreignText(name) },
    { header: 'Role', isMain: true, cell: ({ role }) => (role === null ? 'Commands only' : roleName(role)) },
    { header: 'Since', cell: ({ createdAt }, { now }) => shownTime(createdAt, now) },
    { header: 'State', cell: (row) => stateMark(stateOf(row)) },
  ],
  href: ({ id }) => `/operators/${id}`,
  empty: { text: 'Nobody yet.' },
  buttons: [
    { href: '/operators/new', text: 'Invite an operator', needs: 'operators.manage' },
    { href: '/operators/credential', text: 'New credential', needs: 'operators.manage' },
  ],
});

const roleField: Field = {
  ...{ kind: 'select', name: 'role', label: 'Role' },
  options: operatorRoles.map((role) => ({ value: role, text: roleName(role) })),
};

const invite = formRoutes<null>({
  path: '/operators/new',
  action: 'operators.manage',
  load: async () => null,
  view: () => ({
    heading: 'Invite an operator',
    effect: html`<p>They get a link by mail to choose a password, and set up a second factor at the first sign-in.</p>`,
    fields: [
      { kind: 'text', name: 'name', label: 'Name', isRequired: true },
      { kind: 'email', name: 'email', label: 'E-mail address', isRequired: true },
      roleField,
    ],
    button: 'Invite',
    back: { href: '/operators', text: 'Back to the operators' },
  }),
  async submit(visit, { input: { form } }) {
    const { accounts } = visit;
    const sent = { email: form['email'] ?? '', name: form['name'] ?? '', role: form['role'] ?? '' };
    await accounts.db.withTransaction(async (tx) => {
      const { login, link } = await createLogin(tx, accounts, sent);
      if (link === null) throw new AppError('state_conflict', 'This address has a login already.');
      accounts.sendMail(tx, {
        to: normalizedEmail(sent.email),
        subject: 'Your login to the console',
        text: `Hello ${login.name},\n\nopen this link within seven days to choose a password:\n\n${link}`,
      });
      audit(tx, visit, {
        action: 'operators.invite',
        object: { type: 'operator', id: login.operatorId },
        sent,
      });
    });
  },
});

const show: ConsoleRoute = {
  path: '/operators/:id',
  action: 'records.read',
  async handle(visit, input) {
    const row = await findRow(visit, input);
    const { id, name, role, createdAt, revokedAt } = row;
    const isOther = id !== visit.operator.id && revokedAt === null;
    const needs = 'operators.manage';
    const body = html`${recordHead(visit, {
      heading: foreignText(name),
      state: stateOf(row),
      actions: [
        isOther && role !== null && { href: `/operators/${id}/role`, text: 'Change the role', needs },
        isOther && { href: `/operators/${id}/revoke`, text: 'Revoke', needs, isDanger: true },
      ],
    })}
<section class="panel"><h2>Details</h2>${facts([
      ['Role', role === null ? 'Commands only, by a credential' : roleName(role)],
      ['May', role === null ? 'Decide cases by command' : roleTexts[role]],
      ['Since', shownTime(createdAt, visit.now)],
      ['Revoked', revokedAt && shownTime(revokedAt, visit.now)],
      ['Operator id', id],
    ])}</section><p><a href="${visit.base}/audit?term=${encodeURIComponent(name)}">What they did</a></p>`;
    return { title: name, body };
  },
};

const roleTexts: Readonly<Record<OperatorRole, string>> = {
  support: 'See all; create and suspend businesses, work on checklists, propose resolutions of cases',
  finance: 'See all; set fees, limits and settlement, confirm cases, verify the ledger, export',
  admin: 'All of it, approve businesses for live, manage keys of businesses and operators',
};

const changeRole = formRoutes<OperatorRow>({
  path: '/operators/:id/role',
  action: 'operators.manage',
  load: findRow,
  view: ({ id, name, role }, visit) => ({
    heading: 'Change the role',
    effect: html`<p>${foreignText(name)} may do at once what the new role may, and nothing else.</p>
<dl class="facts">${operatorRoles.map((each) => html`<div><dt>${roleName(each)}</dt><dd>${roleTexts[each]}</dd></div>`)}</dl>`,
    fields: [roleField],
    values: { role: role ?? '' },
    refusal: id === visit.operator.id ? html`<p>Nobody changes their own role. Ask another admin.</p>` : undefined,
    button: 'Change the role',
    back: { href: `/operators/${id}`, text: 'Keep it' },
  }),
  async submit(visit, { subject: { id, role: before }, input: { form } }) {
    if (id === visit.operator.id)
      throw new AppError('state_conflict', 'Nobody changes their own role. Nothing was done.');
    const role = operatorRoles.find((each) => each === form['role']);
    if (!role) throw fieldError('invalid_request', 'role', `A role is ${operatorRoles.join(', ')}.`);
    const words = { sent: { role }, before: { role: before } };
    const act = { action: 'operators.change_role', object: { type: 'operator', id }, ...words };
    await actAudited(visit, act, async (tx) => {
      await lockOperatorsAsAdmin(tx, visit.operator.id);
      if ((await updateOperatorRole(tx, { operatorId: id, role })) === 0) {
        throw new AppError('state_conflict', 'This operator has no login here. Nothing was done.');
      }
      if (!operatorPermission(role, 'businesses.write').isAllowed) await endInvitations(tx, id);
    });
  },
});

const createCredential = formRoutes<null>({
  path: '/operators/credential',
  action: 'operators.manage',
  load: async () => null,
  view: () => ({
    heading: 'New credential for commands',
    effect: html`<p>For somebody who decides cases from a shell and does not sign in here. It is shown once.</p>`,
    fields: [{ kind: 'text', name: 'name', label: 'Name', isRequired: true }],
    button: 'Create the credential',
    back: { href: '/operators', text: 'Back to the operators' },
  }),
  async submit(visit, { input: { form } }) {
    const name = (form['name'] ?? '').trim();
    checkName(name, 'name');
    const { credential } = await visit.money.db.withTransaction(async (tx) => {
      const created = await createOperator(tx, visit.keys, name);
      const object = { type: 'operator', id: created.operator.id };
      audit(tx, visit, { action: 'operators.create_credential', object, sent: { name } });
      return created;
    });
    return secretPage({
      ...{ title: 'A new credential', label: 'OPERATOR_CREDENTIAL', secret: credential },
      effect: html`<p>${foreignText(name)} sets it as OPERATOR_CREDENTIAL before cases resolve, confirm and withdraw.</p>`,
      next: { href: `${visit.base}/operators`, text: 'I have copied it' },
    });
  },
});

const revoke = formRoutes<OperatorRow>({
  path: '/operators/:id/revoke',
  action: 'operators.manage',
  load: findRow,
  view: ({ name }, { base }) => ({
    heading: 'Revoke this operator?',
    effect: html`<p>${foreignText(name)} is out at once. What they proposed can no longer be confirmed,
and the open invitations to owners of businesses that they have sent end. This cannot be undone.</p>
<p>Businesses’ API keys and credentials for commands that they have made were shown to them, and go on working:
<a href="${base}/audit?term=${encodeURIComponent(name)}">look for them in what they did</a>, and revoke them.</p>`,
    button: 'Revoke the operator',
    isDanger: true,
    back: { href: '/operators', text: 'Keep it' },
  }),
  async submit(visit, { subject: { id } }) {
    if (id === visit.operator.id) throw new AppError('state_conflict', 'Nobody revokes themselves. Ask another admin.');
    await visit.money.db.withTransaction(async (tx) => {
      await lockOperatorsAsAdmin(tx, visit.operator.id);
      if (!(await endOperator(tx, { id, revokedAt: visit.now }))) return;
      audit(tx, visit, { action: 'operators.revoke', object: { type: 'operator', id } });
    });
  },
});

// `new` and `credential` come before `:id`.
export const operatorPages: readonly ConsoleRoute[] = [
  ...[list, ...invite, ...createCredential],
  ...[show, ...changeRole, ...revoke],
];
