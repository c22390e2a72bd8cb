import { findNewestEntryOf } from '../../audit/record-audit.ts';
import { html } from '../../kit/html.ts';
import type { Html } from '../../kit/html.ts';
import { foreignText } from '../../pages/page-text.ts';
import type { Visit } from '../visit.ts';
import { timeInSentence } from '../../portal/patterns/texts.ts';

/** “Awa Ceesay, Today 07:36”: who acted on a record last in the dashboard; null where nobody has, or for whom it is not to see. */
export async function lastChange({ accounts, merchant, may, now }: Visit, objectId: string): Promise<Html | null> {
  if (!may('records.read').isAllowed) return null;
  const entry = await findNewestEntryOf(accounts.db, merchant.businessId, objectId);
  return entry ? html`${foreignText(entry.actorName)}, ${timeInSentence(entry.createdAt, now)}` : null;
}
