import { operatorRoles } from '../../accounts/permissions.ts';
import { AppError } from '../../api/app-error.ts';
import { html } from '../../kit/html.ts';
import { listOperatorLogins, listOperators, revokeOperator } from '../../operators/manage-operators.ts';
import type { Operator } from '../../operators/operator.ts';
import { foreignText } from '../../pages/page-text.ts';
import { shownTime, stateMark } from '../../portal/patterns/texts.ts';
import { audit } from '../audit/record.ts';
import { formRoutes, listRoute } from '../console-route.ts';
import type { ConsoleRoute } from '../console-route.ts';
import { createLogin } from './create-login.ts';

const list = listRoute<Operator & { role: string | null }>({
  path: '/operators',
  section: 'operators',
  action: 'records.read',
  title: 'Operators',
  noun: ['operator', 'operators'],
  filters: [],
  async read({ money }) {
    const logins = new Map((await listOperatorLogins(money.db)).map(({ operatorId, role }) => [operatorId, role]));
    const rows = (await listOperators(money.db)).map((each) => ({ ...each, role: logins.get(each.id) ?? null }));
    return { rows, total: rows.length, nextCursor: null };
  },
  columns: [
    { header: 'Name', isMain: true, cell: ({ name }) => foreignText(name) },
    { header: 'Role', isMain: true, cell: ({ role }) => role ?? 'commands only' },
    { header: 'Since', cell: ({ createdAt }, { now }) => shownTime(createdAt, now) },
    {
      header: 'State',
      cell: ({ revokedAt }) =>
        stateMark(
          revokedAt === null
            ? { tone: 'good', icon: 'check', text: 'On' }
            : { tone: 'calm', icon: 'cross', text: 'Revoked' },
        ),
    },
  ],
  href: ({ id }) => `/operators/${id}/revoke`,
  empty: { text: 'Nobody yet.' },
  buttons: [{ href: '/operators/new', text: 'Invite an operator', needs: 'operators.manage' }],
});

const invite = formRoutes<null>({
  path: '/operators/new',
  section: 'operators',
  action: 'operators.manage',
  load: async () => null,
  view: () => ({
    heading: 'Invite an operator',
    effect: html`<p>They get a link by mail to choose a password, and set up a second factor at the first sign-in.</p>`,
    fields: [
      { kind: 'text', name: 'name', label: 'Name', isRequired: true },
      { kind: 'email', name: 'email', label: 'E-mail address', isRequired: true },
      {
        kind: 'select',
        name: 'role',
        label: 'Role',
        options: operatorRoles.map((role) => ({ value: role, text: role })),
      },
    ],
    button: 'Invite',
    back: { href: '/operators', text: 'Back to the operators' },
  }),
  async submit(services, visit, { input: { form } }) {
    const { accounts } = services;
    const sent = { email: form['email'] ?? '', name: form['name'] ?? '', role: form['role'] ?? '' };
    await accounts.sealer.prepare();
    await accounts.db.withTransaction(async (tx) => {
      const { login, link } = await createLogin(tx, accounts, sent);
      if (link === null) throw new AppError('state_conflict', 'This address has a login already.');
      accounts.sendMail(tx, {
        to: sent.email.trim(),
        subject: 'Your login to the console',
        text: `Hello ${login.name},\n\nopen this link within seven days to choose a password:\n\n${link}`,
      });
      audit(tx, services, visit, {
        action: 'operators.invite',
        object: { type: 'operator', id: login.operatorId },
        sent,
      });
    });
    return '/operators';
  },
});

const revoke = formRoutes<Operator>({
  path: '/operators/:id/revoke',
  section: 'operators',
  action: 'operators.manage',
  async load({ money }, _visit, { params }) {
    const found = (await listOperators(money.db)).find(({ id }) => id === params['id']);
    if (!found) throw new AppError('not_found', 'There is no such operator.');
    return found;
  },
  view: ({ name }) => ({
    heading: 'Revoke this operator?',
    effect: html`<p>${foreignText(name)} is out at once, here and in commands. What they proposed can no longer be confirmed.
This cannot be undone.</p>`,
    button: 'Revoke the operator',
    isDanger: true,
    back: { href: '/operators', text: 'Keep it' },
  }),
  async submit(services, visit, { subject: { id } }) {
    if (id === visit.operator.id) throw new AppError('state_conflict', 'Nobody revokes themselves. Ask another admin.');
    await services.money.db.withTransaction(async (tx) => {
      await revokeOperator(tx, { id, revokedAt: visit.now });
      audit(tx, services, visit, { action: 'operators.revoke', object: { type: 'operator', id } });
    });
    return '/operators';
  },
});

export const operatorPages: readonly ConsoleRoute[] = [list, ...invite, ...revoke];
