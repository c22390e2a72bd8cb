import {
  changeRole,
  countInvitation,
  deleteInvitation,
  inviteMember,
  listInvitations,
  listTeam,
  lockTeamAsOwner,
  removeMember,
  type Invitation,
  type TeamMember,
} from '../../accounts/team.ts';
import { AppError } from '../../api/app-error.ts';
import { html, type Html } from '../../kit/html.ts';
import { cleanText, foreignText } from '../../pages/page-text.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { audit, change } from '../patterns/act.ts';
import { maskedChanges } from '../../audit/masked-fields.ts';
import { changedBy } from '../patterns/changed-by.ts';
import type { Option } from '../../portal/patterns/fields.ts';
import { formRoutes } from '../patterns/form-page.ts';
import { facts, recordHead } from '../../portal/patterns/record-page.ts';
import { emailText, roleName, shownTime, stateMark, timeInSentence } from '../../portal/patterns/texts.ts';
import type { Visit } from '../visit.ts';
import { allCounters } from './counters.ts';
import { keysGoOn, listKeysShownTo } from './keys-of-member.ts';
import { counterNames, grantFields, grantInWords, readGrant, rolesExplained } from './team-forms.ts';

const show: DashboardRoute = {
  path: '/settings/team',
  action: 'team.read',
  async handle(visit) {
    const { businessId } = visit.merchant;
    const team = await listTeam(visit.accounts.db, businessId);
    const invitations = await listInvitations(visit.accounts.db, businessId);
    const actions = [{ href: '/settings/team/invite', text: 'Invite somebody', needs: 'team.manage' as const }];
    return {
      title: 'Team',
      body: html`${recordHead(visit, { heading: 'Team', state: null, actions, under: html`<p>The same people work in test and live.</p>` })}
${memberTable(visit, team)}
${invitations.length > 0 && invitationPanel(visit, invitations)}
<section class="panel"><h2>What the roles may do</h2>${rolesExplained()}
<p class="hint">Changing the team, keys and where money goes asks for the second factor each time.</p></section>`,
    };
  },
};

function memberTable({ base, now }: Visit, team: readonly TeamMember[]): Html {
  return html`<table class="list"><caption class="unseen">Team</caption>
<thead><tr><th scope="col">Name</th><th scope="col" class="wide">E-mail</th><th scope="col">Role</th>
<th scope="col" class="wide">Second factor</th><th scope="col" class="wide">Last seen</th></tr></thead>
<tbody>${team.map(
    (
      each,
    ) => html`<tr><td><a href="${base}/settings/team/${each.accountId}"><span class="first">${foreignText(each.name)}</span></a>
<span class="second phone">${emailText(each.email)}</span></td>
<td class="wide">${emailText(each.email)}</td><td><span class="unbroken">${roleName(each.role)}</span><span class="second phone">${!each.hasSecondFactor && factorMark(each)}</span></td>
<td class="wide">${factorMark(each)}</td><td class="wide">${each.lastSeenAt && shownTime(each.lastSeenAt, now)}</td></tr>`,
  )}</tbody></table>`;
}

function factorMark({ hasSecondFactor }: TeamMember): Html {
  return hasSecondFactor
    ? stateMark({ tone: 'good', icon: 'check', text: 'Set up' })
    : stateMark({ tone: 'bad', icon: 'warning', text: 'No second factor' });
}

function invitationPanel({ base, now, may }: Visit, invitations: readonly Invitation[]): Html {
  return html`<section class="panel"><h2>Invited</h2><ul class="things">${invitations.map(
    (each) => html`<li><span>${emailText(each.email)}, ${roleName(each.role)}
<span class="hint">${each.expiresAt <= now ? 'Ended' : 'Ends'} ${timeInSentence(each.expiresAt, now)}</span></span>
${
  may('team.manage').isAllowed &&
  html`<a class="button small plain" href="${base}/settings/team/invitations/${each.id}/withdraw">Withdraw</a>`
}</li>`,
  )}</ul></section>`;
}

interface MemberView {
  member: TeamMember;
  counters: Option[];
}

async function loadMember(visit: Visit, id: string | undefined): Promise<MemberView> {
  const team = await listTeam(visit.accounts.db, visit.merchant.businessId);
  const member = team.find(({ accountId }) => accountId === id);
  if (!member) throw new AppError('not_found', 'This person is no longer in the team.');
  return { member, counters: await allCounters(visit) };
}

interface ChangedMember extends MemberView {
  /** That their keys go on working; empty without any. */
  keys: Html;
}

async function loadForChange(visit: Visit, id: string | undefined): Promise<ChangedMember> {
  const view = await loadMember(visit, id);
  return { ...view, keys: keysGoOn(await listKeysShownTo(visit, view.member.accountId)) };
}

const showMember: DashboardRoute = {
  path: '/settings/team/:id',
  action: 'team.read',
  async handle(visit, { params }) {
    const { member, counters } = await loadMember(visit, params['id']);
    const path = `/settings/team/${member.accountId}`;
    return {
      title: cleanText(member.name),
      body: html`${recordHead(visit, {
        heading: foreignText(member.name),
        state: null,
        under: html`<p>${emailText(member.email)}</p>`,
        actions: [
          { href: `${path}/role`, text: 'Change the role', needs: 'team.manage' },
          { href: `${path}/remove`, text: 'Remove', needs: 'team.manage', isDanger: true },
        ],
      })}<section class="panel">${facts([
        ['Role', roleName(member.role)],
        ['Counters', member.role === 'cashier' ? counterNames(member.terminalIds, counters) || 'None' : null],
        ['Second factor', factorMark(member)],
        ['Last seen', member.lastSeenAt && shownTime(member.lastSeenAt, visit.now)],
        ['In the team since', shownTime(member.createdAt, visit.now)],
      ])}${await changedBy(visit, { id: member.accountId })}</section>`,
    };
  },
};

const back = { href: '/settings/team', text: 'Keep it' };

const invite = formRoutes<Option[]>({
  path: '/settings/team/invite',
  action: 'team.manage',
  load: allCounters,
  view: (counters, { base }) => ({
    heading: 'Invite somebody',
    effect: html`<p>They get a mail with a link that is good for seven days. Inviting the same address again replaces it.</p>
${
  counters.length === 0 &&
  html`<p>A cashier works at counters, and you have none yet: <a href="${base}/counters/new">make one first</a>.</p>`
}`,
    fields: [{ kind: 'email', name: 'email', label: 'E-mail address', isRequired: true }, ...grantFields(counters)],
    values: { role: 'cashier' },
    button: 'Send the invitation',
    back: { href: '/settings/team', text: 'Back to the team' },
  }),
  async submit(visit, { subject: counters, input: { form }, body }) {
    const { accounts, account, merchant } = visit;
    const grant = readGrant(form['role'], body['counters'], counters);
    const { email = '' } = form;
    await countInvitation(accounts, { businessId: merchant.businessId, invitedBy: account, email });
    await accounts.db.withTransaction(async (tx) => {
      await lockTeamAsOwner(tx, merchant.businessId, account.id);
      const business = { id: merchant.businessId, name: visit.business.name };
      const invitation = await inviteMember(tx, accounts, { business, invitedBy: account, email, grant });
      audit(tx, visit, {
        action: 'team.invite',
        object: { type: 'invitation', id: invitation.id },
        changes: maskedChanges({ email: invitation.email, ...grantInWords(grant, counters) }),
        isForBoth: true,
      });
    });
  },
});

const withdraw = formRoutes<Invitation>({
  path: '/settings/team/invitations/:id/withdraw',
  action: 'team.manage',
  async load({ accounts, merchant }, { params }) {
    const invitations = await listInvitations(accounts.db, merchant.businessId);
    const found = invitations.find(({ id }) => id === params['id']);
    if (!found) throw new AppError('not_found', 'This invitation was accepted or withdrawn.');
    return found;
  },
  view: ({ email, role }) => ({
    heading: 'Withdraw the invitation?',
    effect: html`<p>${email} can no longer join as ${role} with it.</p>`,
    button: 'Withdraw the invitation',
    isDanger: true,
    back,
  }),
  async submit(visit, { subject: { id, businessId, email } }) {
    const words = { before: { email }, after: { email: null } };
    await change(
      visit,
      { action: 'team.withdraw', object: { type: 'invitation', id }, ...words, isForBoth: true },
      async (tx) => {
        await lockTeamAsOwner(tx, businessId, visit.account.id);
        if ((await deleteInvitation(tx, businessId, id)) === 1) return;
        throw new AppError('state_conflict', 'This invitation was accepted or withdrawn meanwhile. Nothing was done.');
      },
    );
  },
});

const role = formRoutes<ChangedMember>({
  path: '/settings/team/:id/role',
  action: 'team.manage',
  load: (visit, { params }) => loadForChange(visit, params['id']),
  view: ({ member, counters, keys }) => ({
    heading: `Role of ${cleanText(member.name)}`,
    effect: html`<p>${foreignText(member.name)} is ${roleName(member.role)}. The new role counts from the next page on.</p>${keys}`,
    fields: grantFields(counters),
    values: { role: member.role, counters: member.terminalIds.join(',') },
    button: 'Change the role',
    back: { href: `/settings/team/${member.accountId}`, text: 'Keep it' },
  }),
  async submit(visit, { subject: { member, counters }, input: { form }, body }) {
    const { accounts } = visit;
    const { businessId, accountId } = member;
    const grant = readGrant(form['role'], body['counters'], counters);
    const words = { before: grantInWords(member, counters), after: grantInWords(grant, counters) };
    await change(
      visit,
      { action: 'team.change_role', object: { type: 'member', id: accountId }, ...words, isForBoth: true },
      async (tx) => {
        await lockTeamAsOwner(tx, businessId, visit.account.id);
        const before = await changeRole(tx, accounts, { businessId, accountId, grant });
        if (before.role === member.role && String(before.terminalIds) === String(member.terminalIds)) return;
        throw new AppError('state_conflict', 'The role was changed meanwhile, by another owner. Nothing was done.');
      },
    );
    return '/settings/team';
  },
});

const remove = formRoutes<ChangedMember>({
  path: '/settings/team/:id/remove',
  action: 'team.manage',
  load: (visit, { params }) => loadForChange(visit, params['id']),
  view: ({ member, keys }, { account }) => ({
    heading: `Remove ${cleanText(member.name)}?`,
    effect: html`<p>${member.email} sees nothing of this business from the next page on. What they have made stays;
open invitations that they have sent end.</p>${keys}
${member.accountId === account.id && html`<p>This is you: you will not come back without an invitation.</p>`}`,
    button: 'Remove from the team',
    isDanger: true,
    back: { href: `/settings/team/${member.accountId}`, text: 'Keep it' },
  }),
  async submit(visit, { subject: { member } }) {
    const { businessId, accountId } = member;
    const words = { before: { name: member.name, role: member.role }, after: { name: null, role: null } };
    await change(
      visit,
      { action: 'team.remove', object: { type: 'member', id: accountId }, ...words, isForBoth: true },
      async (tx) => {
        await lockTeamAsOwner(tx, businessId, visit.account.id);
        await removeMember(tx, { businessId, accountId });
      },
    );
    return '/settings/team';
  },
});

export const teamPages: readonly DashboardRoute[] = [show, ...invite, ...withdraw, showMember, ...role, ...remove];
