import type { FastifyInstance, FastifyReply } from 'fastify';
import { merchantPermission, merchantRoles } from '../../accounts/permissions.ts';
import type { MerchantAction, MerchantRole } from '../../accounts/permissions.ts';
import { checkSecondFactor, hasSecondFactor } from '../../accounts/second-factor.ts';
import type { SignedIn } from '../../accounts/sessions.ts';
import {
  changeRole,
  deleteInvitation,
  findMembership,
  inviteMember,
  listInvitations,
  listMemberships,
  listTeam,
  removeMember,
} from '../../accounts/team.ts';
import { AppError, fieldError } from '../../api/app-error.ts';
import { html } from '../../kit/html.ts';
import type { Html } from '../../kit/html.ts';
import { isUuid } from '../../kit/ids.ts';
import { seeOther } from '../../pages/page-scope.ts';
import { formatTime } from '../../pages/page-text.ts';
import { emptyForm, formSummary, readForm, refusedForm, textField } from '../forms.ts';
import type { FormState } from '../forms.ts';
import { narrowPage } from '../narrow-page.ts';
import type { PortalParts } from '../portal-scope.ts';
import { requireSignedIn } from './signed-in-only.ts';
import type { PortalRequest } from './signed-in-only.ts';

/** The team of a business: who works there, and as what. Who may see and change it says `accounts/permissions.ts`. */
export function registerTeamPages(scope: FastifyInstance, parts: PortalParts): void {
  const { context } = parts;
  scope.get(
    '/businesses/:businessId/team',
    requireSignedIn(async (request, reply, signedIn) =>
      showTeam(parts, request, reply, { signedIn, form: emptyForm, status: 200 }),
    ),
  );
  const change = (path: string, act: (member: Member, values: Record<string, string>) => Promise<unknown>): void => {
    scope.post(
      `/businesses/:businessId/team${path}`,
      requireSignedIn(async (request, reply, signedIn) => {
        const values = readForm(request);
        try {
          const member = await requireMember(parts, request, signedIn, 'team.manage');
          await requireCode(parts, signedIn, values);
          await act(member, values);
          return await seeOther(reply, `/dashboard/businesses/${member.business.id}/team`);
        } catch (error) {
          const { status, form } = refusedForm(values, error);
          return showTeam(parts, request, reply, { signedIn, form, status });
        }
      }),
    );
  };
  change('/invitations', async ({ business, signedIn }, { email = '', role }) => {
    await context.sealer.prepare();
    const grant = { role: roleOf(role), terminalIds: [] };
    await context.db.withTransaction((tx) =>
      inviteMember(tx, context, { business, invitedBy: signedIn.account, email, grant }),
    );
  });
  change('/withdraw', ({ business }, { id }) => deleteInvitation(context.db, business.id, idOf(id)));
  change('/role', async ({ business: { id: businessId } }, { id, role }) => {
    const grant = { role: roleOf(role), terminalIds: [] };
    await context.db.withTransaction((tx) => changeRole(tx, context, { businessId, accountId: idOf(id), grant }));
  });
  change('/remove', async ({ business: { id: businessId } }, { id }) => {
    await context.db.withTransaction((tx) => removeMember(tx, { businessId, accountId: idOf(id) }));
  });
}

/** A signed-in person in one of their businesses. */
interface Member {
  business: { id: string; name: string };
  role: MerchantRole;
  signedIn: SignedIn;
}

/** Read for each request, so that a role that was taken away is gone at once. Throws AppError `not_found` to everybody else. */
async function requireMember(
  { context }: PortalParts,
  request: PortalRequest,
  signedIn: SignedIn,
  action: MerchantAction,
): Promise<Member> {
  const { businessId = '' } = request.params;
  const membership = isUuid(businessId) ? await findMembership(context.db, businessId, signedIn.account.id) : undefined;
  const all = membership ? await listMemberships(context.db, signedIn.account.id) : [];
  const name = all.find((each) => each.businessId === membership?.businessId)?.businessName;
  if (!membership || name === undefined) throw new AppError('not_found', 'You are in no such team.');
  if (!merchantPermission(membership.role, action, { testMode: false }).isAllowed) {
    throw new AppError('state_conflict', 'Your role does not allow this. Ask an owner. Nothing was done.');
  }
  return { business: { id: membership.businessId, name }, role: membership.role, signedIn };
}

/** Changing a team asks for the second factor each time. */
async function requireCode(
  { context }: PortalParts,
  { account }: SignedIn,
  values: Record<string, string>,
): Promise<void> {
  if (!(await hasSecondFactor(context.db, account))) {
    throw new AppError(
      'state_conflict',
      'Set up an authenticator app first (Your login): changing the team needs its code.',
    );
  }
  await checkSecondFactor(context, account, { code: values['second_factor'] ?? '', passkey: '' });
}

function roleOf(text: string | undefined): MerchantRole {
  const role = merchantRoles.find((each) => each === text);
  if (role === undefined) throw fieldError('invalid_request', 'role', 'Choose a role.');
  return role;
}

function idOf(text: string | undefined): string {
  if (text === undefined || !isUuid(text)) throw new AppError('not_found', 'This person is no longer in the team.');
  return text;
}

async function showTeam(
  parts: PortalParts,
  request: PortalRequest,
  reply: FastifyReply,
  { signedIn, form, status }: { signedIn: SignedIn; form: FormState; status: number },
): Promise<FastifyReply> {
  const { context, guardField, send } = parts;
  const { business, role } = await requireMember(parts, request, signedIn, 'team.read');
  const [team, invitations] = [await listTeam(context.db, business.id), await listInvitations(context.db, business.id)];
  const mayChange = merchantPermission(role, 'team.manage', { testMode: false }).isAllowed;
  const path = `/dashboard/businesses/${business.id}/team`;
  const members = team.map((each) => ({ id: each.accountId, text: `${each.name}, ${each.email}` }));
  const open = invitations.map(({ id, email }) => ({ id, text: email }));
  const formOf = (action: string, title: string, fields: Html): Html => html`<details><summary>${title}</summary>
<form method="post" action="${path}${action}" class="stack">${guardField(request)}${fields}
${textField(emptyForm, { name: 'second_factor', label: 'Code', autocomplete: 'one-time-code', id: `code${action}` })}
<button class="button">${title}</button></form></details>`;
  const body = narrowPage(
    `Team of ${business.name}`,
    html`${formSummary(form, [])}
<ul class="things">${team.map(
      (each) => html`<li><span><strong>${each.name}</strong>, ${each.role}
<span class="hint">${each.email}. ${each.hasSecondFactor ? 'Second factor set up.' : 'No second factor.'}
${each.lastSeenAt && html`Last seen ${formatTime(each.lastSeenAt)}.`}</span></span></li>`,
    )}${invitations.map(
      (each) => html`<li><span>${each.email}, ${each.role}
<span class="hint">Invited, until ${formatTime(each.expiresAt)}.</span></span></li>`,
    )}</ul>
${
  mayChange &&
  html`${formOf('/invitations', 'Invite', html`${textField(form, { name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'off' })}${roleField('invite')}`)}
${formOf('/role', 'Change a role', html`${personField('role', members)}${roleField('change')}`)}
${formOf('/remove', 'Remove from the team', personField('remove', members))}
${open.length > 0 && formOf('/withdraw', 'Withdraw an invitation', personField('withdraw', open))}`
}
<p><a href="/dashboard/businesses">Your businesses</a></p>`,
  );
  return send(request, reply, { status, title: `Team of ${business.name}`, body });
}

function roleField(prefix: string): Html {
  return selectField(
    `${prefix}-role`,
    'role',
    'Role',
    merchantRoles.toReversed().map((role) => ({ id: role, text: role })),
  );
}

function personField(prefix: string, people: readonly { id: string; text: string }[]): Html {
  return selectField(`${prefix}-person`, 'id', 'Person', people);
}

function selectField(id: string, name: string, label: string, options: readonly { id: string; text: string }[]): Html {
  return html`<div class="field"><label for="${id}">${label}</label>
<select id="${id}" name="${name}">${options.map((each) => html`<option value="${each.id}">${each.text}</option>`)}</select></div>`;
}
