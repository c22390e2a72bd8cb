import { ownActionText, ownActions } from '../../audit/action-words.ts';
import type { AuditEntry } from '../../audit/audit-entry.ts';
import type { Option } from '../../portal/patterns/fields.ts';
import type { VisitApi } from '../visit-api.ts';

type Summaries = Pick<VisitApi, 'writing'>;

/** An action in words: the summary of its route of the API, or our own. */
export function actionText({ writing }: Summaries, action: string): string {
  return writing.find(({ operationId }) => operationId === action)?.summary ?? ownActionText(action);
}

/** Every action that may stand in the log, by its words. */
export function actionOptions({ writing }: Summaries): Option[] {
  const routes = writing.map(({ operationId, summary }) => ({ value: operationId, text: summary }));
  const own = ownActions.map(({ action, text }) => ({ value: action, text }));
  return [...routes, ...own].toSorted((one, other) => one.text.localeCompare(other.text, 'en'));
}

/** The page of what an entry is about, below the visit's base; null where there is none. */
export function objectPath({ objectType, objectId }: AuditEntry): string | null {
  const paths: Readonly<Record<string, string>> = {
    payment: '/payments/:id',
    refund: '/refunds/:id',
    transfer: '/transfers/:id',
    transfer_request: '/transfers/requests/:id',
    payment_link: '/links/:id',
    counter: '/counters/:id',
    customer: '/customers/:id',
    sub_account: '/sub-accounts/:id',
    group: '/groups/:id',
    webhook_endpoint: '/endpoints/:id',
    event: '/events/:id',
    api_key: '/keys/:id',
    settings: '/settings',
    business: '/settings',
    invitation: '/settings/team',
    member: '/settings/team/:id',
  };
  const path = objectType === null ? undefined : paths[objectType];
  return path === undefined ? null : path.replace(':id', objectId ?? '');
}
