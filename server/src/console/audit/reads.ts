import { BoundedMap } from '../../kit/bounded-map.ts';
import type { PageInput, SectionRoute } from '../../portal/patterns/page-route.ts';
import type { ConsoleKind } from '../console-route.ts';
import type { ConsoleVisit } from '../visit.ts';
import { audit } from './record.ts';

/** The page that an operator has requested. */
interface Seen {
  route: SectionRoute<ConsoleKind>;
  input: PageInput;
}

const againAfterMs = 3_600_000;
const rememberedMax = 10_000;
// What shows one business's records, or searches in those of all, whoever's they are.
const readsData = /:id|^\/search$|^\/(ledger|reconciliation)\/explain$/;

/**
 * Writes in the audit log which records of businesses an operator looks at: each page once an hour for each session, since a page
 * is loaded again and again while somebody works on it. Without the entry the page is not shown.
 */
export class RecordedReads {
  readonly #times = new BoundedMap<string, number>(rememberedMax);

  async note(visit: ConsoleVisit, { route, input }: Seen): Promise<void> {
    if (route.method !== 'GET' || !readsData.test(route.path)) return;
    const { params, query } = input;
    const requested = Object.entries({ ...params, ...query }).filter(([, value]) => value !== '');
    if (requested.length === 0) return;
    const key = JSON.stringify([visit.session.id, visit.base, route.path, requested]);
    const nowMs = visit.now.getTime();
    const lastMs = this.#times.get(key);
    if (lastMs !== undefined && nowMs - lastMs < againAfterMs) return;
    const object = { type: route.section, id: params['id'] ?? null };
    const sent = { page: route.path, ...query };
    await visit.money.db.withTransaction(async (tx) => audit(tx, visit, { action: 'data.read', object, sent }));
    this.#times.set(key, nowMs);
  }
}

/** Writes that an operator has exported a table. */
export async function recordExport(visit: ConsoleVisit, { route, input }: Seen, file: string): Promise<void> {
  const object = { type: route.section, id: input.params['id'] ?? null };
  await visit.money.db.withTransaction(async (tx) =>
    audit(tx, visit, { action: 'list.export', object, sent: { file, ...input.query } }),
  );
}
