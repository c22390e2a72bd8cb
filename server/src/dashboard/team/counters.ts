import type { Static } from 'typebox';
import { terminalSchema } from '../../terminals/wire-schemas.ts';
import { cleanText } from '../../pages/page-text.ts';
import type { Option } from '../../portal/patterns/fields.ts';
import type { Visit } from '../visit.ts';

const pageSize = 100;
// More than a form can show well; the others are given to a cashier once some are deleted.
const countersMax = 500;

/** A business's counters in both environments, for the cashiers who work at them. */
export async function allCounters(visit: Visit): Promise<Option[]> {
  const counters: Option[] = [];
  for (const merchant of await visit.money.merchants.ofBusiness(visit.merchant.businessId)) {
    const caller = { merchantId: merchant.id, testMode: merchant.testMode };
    let cursor: string | null = null;
    do {
      const page: { data: Static<typeof terminalSchema>[]; meta: { next_cursor: string | null } } =
        await visit.api.list('listVirtualTerminals', terminalSchema, {
          caller,
          query: { limit: pageSize, cursor: cursor ?? undefined },
        });
      for (const { id, name, code } of page.data) {
        counters.push({ value: id, text: `${cleanText(name)}, ${code} (${merchant.testMode ? 'test' : 'live'})` });
      }
      cursor = page.meta.next_cursor;
    } while (cursor !== null && counters.length < countersMax);
  }
  return counters;
}
