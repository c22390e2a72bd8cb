import { checkName } from '../../accounts/sign-up.ts';
import { deleteInvitation, inviteMember, listInvitations, listTeam } from '../../accounts/team.ts';
import { AppError } from '../../api/app-error.ts';
import { isUniqueViolation } from '../../kit/db-errors.ts';
import { html } from '../../kit/html.ts';
import { getBusiness, liftSuspension, lockBusiness, suspendBusiness } from '../../merchants/business-status.ts';
import { lockOperatorAs } from '../../operators/manage-operators.ts';
import { foreignText } from '../../pages/page-text.ts';
import { actAudited, audit } from '../audit/record.ts';
import { formRoutes, type ConsoleRoute } from '../console-route.ts';
import { agreeLost } from '../logins/agree-lost.ts';
import { findBusiness, type Business } from './business.ts';

const create = formRoutes<null>({
  path: '/businesses/new',
  action: 'businesses.write',
  load: async () => null,
  view: () => ({
    heading: 'New business',
    effect: html`<p>It gets a test and a live merchant. It takes no real money before it is approved.</p>`,
    fields: [{ kind: 'text', name: 'name', label: 'Name', isRequired: true, hint: 'Payers see it.' }],
    button: 'Create the business',
    back: { href: '/businesses', text: 'Back to the businesses' },
  }),
  // The form's id becomes the business's, so that a second press creates no second business.
  async submit(visit, { input, formId: id }) {
    const name = (input.form['name'] ?? '').trim();
    checkName(name, 'name');
    const act = { action: 'businesses.create', object: { type: 'business', id }, businessId: id, sent: { name } };
    try {
      await actAudited(visit, act, (tx) => visit.createBusiness(tx, { id, name }));
    } catch (error) {
      if (!isUniqueViolation(error, 'businesses_pkey')) throw error;
      const created = await getBusiness(visit.money.db, id);
      if (created.name !== name) throw new AppError('idempotency_key_reused', `This form has created ${created.name}.`);
    }
    return `/businesses/${id}`;
  },
});

const suspend = formRoutes<Business>({
  path: '/businesses/:id/suspend',
  action: 'businesses.write',
  load: findBusiness,
  view: ({ id, name }) => ({
    heading: 'Suspend this business?',
    effect: html`<p>${foreignText(name)} gets no new payments and transfers until somebody with the role admin lifts it; those under way finish.</p>`,
    fields: [{ kind: 'text', name: 'reason', label: 'Reason', isRequired: true }],
    button: 'Suspend the business',
    isDanger: true,
    back: { href: `/businesses/${id}`, text: 'Keep it' },
  }),
  async submit(visit, { subject: { id }, input }) {
    const reason = input.form['reason'] ?? '';
    const act = { action: 'businesses.suspend', object: { type: 'business', id }, businessId: id, sent: { reason } };
    await actAudited(visit, act, (tx) => suspendBusiness(tx, visit.money, id));
  },
});

const lift = formRoutes<Business>({
  path: '/businesses/:id/lift',
  action: 'businesses.approve',
  load: findBusiness,
  view: ({ id, name }) => ({
    heading: 'Lift the suspension?',
    effect: html`<p>${foreignText(name)} works again as before.</p>`,
    button: 'Lift the suspension',
    back: { href: `/businesses/${id}`, text: 'Keep it' },
  }),
  async submit(visit, { subject: { id } }) {
    const act = { action: 'businesses.lift_suspension', object: { type: 'business', id }, businessId: id };
    await actAudited(visit, act, (tx) => liftSuspension(tx, id));
  },
});

const inviteOwner = formRoutes<{ business: Business; hasTeam: boolean }>({
  path: '/businesses/:id/owner',
  action: 'businesses.write',
  async load(visit, input) {
    const business = await findBusiness(visit, input);
    return { business, hasTeam: (await listTeam(visit.accounts.db, business.id)).length > 0 };
  },
  view: ({ business: { id, name }, hasTeam }) => ({
    heading: 'Invite its owner',
    effect: html`<p>They get a link by mail, which works for seven days, and do everything for ${foreignText(name)} from then on.
An earlier invitation ends.</p>`,
    fields: [{ kind: 'email', name: 'email', label: 'E-mail address', isRequired: true }],
    // Later owners are invited by those who are there: an operator must not become one.
    refusal: hasTeam ? html`<p>It has a team already. Its owners invite others themselves.</p>` : undefined,
    button: 'Invite the owner',
    back: { href: `/businesses/${id}`, text: 'Back to the business' },
  }),
  async submit(visit, { subject: { business }, input: { form } }) {
    const { accounts } = visit;
    const { id, name } = business;
    const email = form['email'] ?? '';
    const act = {
      action: 'businesses.invite_owner',
      object: { type: 'business', id },
      businessId: id,
      sent: { email },
    };
    const grant = { role: 'owner' as const, terminalIds: [] };
    await actAudited(visit, act, async (tx) => {
      await lockOperatorAs(tx, visit.operator);
      // So that of operators who invite at once the later one finds the earlier one's: without a team there is nothing else to lock.
      await lockBusiness(tx, id);
      // First, which waits for whoever is just accepting one: of several links one counts, also where an address was mistyped.
      for (const earlier of await listInvitations(tx, id)) await deleteInvitation(tx, id, earlier.id);
      if ((await listTeam(tx, id)).length > 0) {
        throw new AppError('state_conflict', 'It has a team already. Nothing was done.');
      }
      await inviteMember(tx, accounts, { business: { id, name }, invitedBy: visit.account, email, grant });
    });
  },
});

const lostFactor = formRoutes<Business>({
  path: '/businesses/:id/lost-factor',
  action: 'businesses.approve',
  load: findBusiness,
  view: ({ id, name }) => ({
    heading: 'Lost second factor',
    effect: html`<p>For somebody of ${foreignText(name)} who has lost app, passkeys and recovery codes. Once two operators have agreed,
the second one a day later at the earliest, they sign in with their password alone. They and all owners get a mail each time, and a
sign-in with the second factor ends it.</p>`,
    fields: [
      { kind: 'email', name: 'email', label: 'E-mail address of the login', isRequired: true },
      { kind: 'text', name: 'evidence', label: 'How you have made sure who asks', isRequired: true },
    ],
    button: 'Agree',
    isDanger: true,
    back: { href: `/businesses/${id}`, text: 'Back to the business' },
  }),
  async submit(visit, { subject: { id }, input: { form } }) {
    const { accounts, operator } = visit;
    const { email = '', evidence = '' } = form;
    const { removed } = await accounts.db.withTransaction(async (tx) => {
      await lockOperatorAs(tx, operator);
      const agreed = await agreeLost(tx, { ...accounts, operator }, { businessId: id, email, evidence });
      audit(tx, visit, agreed.act);
      return agreed;
    });
    const what = removed
      ? 'The second factor is removed.'
      : 'Another operator has to agree too, in a day at the earliest.';
    const body = html`<header class="head"><h1>${what}</h1></header>
<p><a href="${visit.base}/businesses/${id}">Back to the business</a></p>`;
    return { title: 'Lost second factor', body };
  },
});

export const businessForms: readonly ConsoleRoute[] = [...create, ...suspend, ...lift, ...inviteOwner, ...lostFactor];
