import { maskedDetail } from '../../api/masked-value.ts';
import { html, type Html } from '../../kit/html.ts';
import { maskPhoneNumber } from '../../kit/phone-number.ts';
import { cleanText, foreignText, formatNumber } from '../../pages/page-text.ts';
import type { Page, PageInput } from '../../portal/patterns/page-route.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import type { Visit } from '../visit.ts';
import { audit } from './act.ts';

/** Whether numbers and addresses of people stand on a page whole, because somebody has pressed the button for it. */
export interface Shown {
  isWhole: boolean;
}

interface RecordPage<Subject> {
  path: string;
  action: DashboardRoute['action'];
  /** The kind of the record, as the audit log has it. */
  object: string;
  load(visit: Visit, input: PageInput): Promise<Subject>;
  page(visit: Visit, drawn: { subject: Subject; shown: Shown }): Promise<Page>;
}

/**
 * A record's page with a person's number, which is masked. “Show number” (`showButton`) sends the page's own address: the response to
 * that is the same page with the whole number, once the audit log has who saw it. No other address shows it.
 */
export function recordWithNumber<Subject extends { id: string }>(record: RecordPage<Subject>): DashboardRoute[] {
  const { path, action, object, load, page } = record;
  return [
    {
      path,
      action,
      handle: async (visit, input) => page(visit, { subject: await load(visit, input), shown: { isWhole: false } }),
    },
    {
      method: 'POST',
      path,
      action: 'numbers.show',
      async handle(visit, input) {
        const subject = await load(visit, input);
        const entry = { action: 'numbers.show', object: { type: object, id: subject.id }, changes: [] };
        await visit.accounts.db.withTransaction(async (tx) => audit(tx, visit, entry));
        return page(visit, { subject, shown: { isWhole: true } });
      },
    },
  ];
}

/** `.... 4725`, or the whole number. */
export function numberText(number: string | null, { isWhole }: Shown): string {
  return isWhole ? formatNumber(number ?? '') : maskPhoneNumber(number ?? '');
}

/** `••••@example.gm`, or the whole address. */
export function emailText(email: string | null, { isWhole }: Shown): Html {
  return foreignText(isWhole ? (email ?? '') : maskedDetail('email', cleanText(email ?? '')));
}

/** For whoever may see what is masked, as long as it is: `what` names it. */
export function showButton({ may, guardField }: Visit, { isWhole }: Shown, what = 'number'): Html {
  if (isWhole || what === '' || !may('numbers.show').isAllowed) return html``;
  return html`<form method="post">${guardField}<p class="actions"><button class="button small plain">Show ${what}</button></p></form>`;
}
