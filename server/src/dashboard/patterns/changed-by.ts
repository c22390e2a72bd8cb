import { findNewestEntryOf } from '../../audit/record-audit.ts';
import { html, type Html } from '../../kit/html.ts';
import { cleanText, foreignText } from '../../pages/page-text.ts';
import type { Visit } from '../visit.ts';
import { timeInSentence } from '../../portal/patterns/texts.ts';

/** “Changed by Awa, Today 07:36” with a link to the record's entries; nothing for what nobody has changed here. */
export async function changedBy(
  { accounts, merchant, base, now, may }: Visit,
  object: { id: string; action?: string },
): Promise<Html> {
  const entry = await findNewestEntryOf(accounts.db, merchant.businessId, object.id, object.action ?? null);
  if (!entry) return html``;
  const text = html`Changed by <bdi>${cleanText(entry.actorName)}</bdi>, ${timeInSentence(entry.createdAt, now)}`;
  const query = new URLSearchParams({ object: object.id, ...(object.action && { action: object.action }) }).toString();
  return html`<p class="hint">${may('audit.read').isAllowed ? html`<a href="${base}/audit?${query}">${text}</a>` : text}</p>`;
}

/** “Awa Ceesay, Today 07:36”: who acted on a record last in the dashboard; null where nobody has, or for whom it is not to see. */
export async function lastChange({ accounts, merchant, may, now }: Visit, objectId: string): Promise<Html | null> {
  if (!may('records.read').isAllowed) return null;
  const entry = await findNewestEntryOf(accounts.db, merchant.businessId, objectId);
  return entry ? html`${foreignText(entry.actorName)}, ${timeInSentence(entry.createdAt, now)}` : null;
}
