import { html } from '../../kit/html.ts';
import { listOperators } from '../../operators/manage-operators.ts';
import { foreignText } from '../../pages/page-text.ts';
import { timeInSentence } from '../../portal/patterns/texts.ts';
import { actAudited } from '../audit/record.ts';
import { formRoutes, type ConsoleRoute } from '../console-route.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import type { ConsoleVisit } from '../visit.ts';
import { listBusinessChecks } from '../queries.ts';
import { approveBusiness, checkItems, checklist, saveChecks } from './approval.ts';
import { findBusiness, type Business } from './business.ts';

interface Approval {
  business: Business;
  checks: { item: string; operator: string; checkedAt: Date }[];
}

async function loadApproval(visit: ConsoleVisit, input: PageInput): Promise<Approval> {
  const business = await findBusiness(visit, input);
  const { db } = visit.money;
  const names = new Map((await listOperators(db)).map((operator) => [operator.id, operator.name]));
  const checks = (await listBusinessChecks(db, business.id)).map(({ item, checkedBy, checkedAt }) => ({
    ...{ item, checkedAt },
    operator: names.get(checkedBy) ?? checkedBy,
  }));
  return { business, checks };
}

const prepare = formRoutes<Approval>({
  path: '/businesses/:id/approval',
  action: 'businesses.write',
  load: loadApproval,
  view: ({ business: { id, name }, checks }) => ({
    heading: 'Checklist',
    effect: html`<p>${foreignText(name)} goes live once everything is checked and another operator approves it.</p>`,
    fields: [
      {
        kind: 'checkboxes',
        name: 'checks',
        label: 'Checked',
        options: checkItems.map((value) => ({ value, text: checklist[value] })),
      },
    ],
    values: { checks: checks.map(({ item }) => item).join(',') },
    button: 'Save the checklist',
    back: { href: `/businesses/${id}`, text: 'Keep it' },
  }),
  async submit(visit, { subject: { business, checks }, body }) {
    const ticked = new Set(Array.isArray(body['checks']) ? body['checks'].map(String) : []);
    const operatorId = visit.operator.id;
    const act = {
      ...{ action: 'businesses.check', businessId: business.id, object: { type: 'business', id: business.id } },
      sent: { checks: [...ticked].join(', ') },
      before: { checks: checks.map(({ item }) => item).join(', ') },
    };
    await actAudited(visit, act, (tx) => saveChecks(tx, visit.money, { businessId: business.id, operatorId, ticked }));
  },
});

const approve = formRoutes<Approval>({
  path: '/businesses/:id/approval/approve',
  action: 'businesses.approve',
  load: loadApproval,
  view: ({ business: { id, name }, checks }, { now }) => ({
    heading: 'Approve for live?',
    effect: html`<p>${foreignText(name)} can take real money from then on.</p>
<ul>${checkItems.map((item) => {
      const check = checks.find((each) => each.item === item);
      return html`<li>${checklist[item]}: ${
        check ? html`${check.operator}, ${timeInSentence(check.checkedAt, now)}` : html`<strong>not checked</strong>`
      }</li>`;
    })}</ul>`,
    button: 'Approve for live',
    back: { href: `/businesses/${id}`, text: 'Keep it in test' },
  }),
  async submit(visit, { subject: { business } }) {
    const { id: businessId } = business;
    const act = { action: 'businesses.approve', businessId, object: { type: 'business', id: businessId } };
    await actAudited(visit, act, (tx) =>
      approveBusiness(tx, visit.money, { businessId, operatorId: visit.operator.id }),
    );
  },
});

export const approvalPages: readonly ConsoleRoute[] = [...prepare, ...approve];
