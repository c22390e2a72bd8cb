import { isUuid } from '../../kit/ids.ts';
import { cleanText } from '../../pages/page-text.ts';
import type { FoundPayment, IntentFilter } from '../../payments/find-payment.ts';
import { intentStatuses, type IntentStatus } from '../../payments/intent.ts';
import { paymentSearchOf, type PaymentSearch } from '../../payments/payment-search.ts';
import { terminalSchema } from '../../terminals/wire-schemas.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import type { Filter } from '../../portal/patterns/list-page.ts';
import { createdRange, moreDateFilters } from '../../portal/patterns/time-filter.ts';
import { knownNetworks } from '../../networks/known-networks.ts';
import type { Visit } from '../visit.ts';
import { beginningOfToday } from './visible-payment.ts';

const statusTexts: Record<IntentStatus, string> = {
  requires_payment_method: 'Not paid yet',
  processing: 'Waiting',
  successful: 'Paid',
  failed: 'Failed',
  cancelled: 'Cancelled',
  expired: 'Expired',
};

// More than a business has in one place; the address takes any counter.
const countersMax = 100;

/** The filters of the list, with the business's own networks and counters. */
export async function paymentFilters(visit: Visit): Promise<readonly Filter[]> {
  const { api, may, membership } = visit;
  const counters = await api.list('listVirtualTerminals', terminalSchema, { query: { limit: countersMax } });
  const { ownOnly } = may('payments.read');
  const shown = counters.data.filter(({ id }) => !ownOnly || membership.terminalIds.includes(id));
  return [
    { kind: 'search', name: 'term', label: 'Name, number, amount, reference or receipt code' },
    {
      kind: 'select',
      name: 'status',
      label: 'State',
      options: intentStatuses.map((value) => ({ value, text: statusTexts[value] })),
    },
    ...moreDateFilters,
    {
      kind: 'select',
      name: 'network',
      label: 'Network',
      isMore: true,
      options: knownNetworks.map(({ id, displayName }) => ({ value: id, text: displayName })),
    },
    {
      kind: 'select',
      name: 'counter',
      label: 'Counter',
      isMore: true,
      options: shown.map(({ id, name }) => ({ value: id, text: cleanText(name) })),
    },
    { kind: 'date', name: 'paid_from', label: 'Paid from', isMore: true },
    { kind: 'date', name: 'paid_to', label: 'Paid to', isMore: true },
    { kind: 'given', name: 'link', label: 'Only of one payment link' },
    { kind: 'given', name: 'customer', label: 'Only of one customer' },
  ];
}

/** What the list's address asks for, as far as the person may see it. */
export function filterOf(visit: Visit, query: PageInput['query']): IntentFilter {
  const { now, membership, may } = visit;
  const { ownOnly } = may('payments.read');
  const search = searchOf(query['term'] ?? '');
  const range = createdRange(query);
  const today = beginningOfToday(visit);
  const isEarlier = range.from === undefined || range.from < today;
  const paid = createdRange({ from: query['paid_from'] ?? '', to: query['paid_to'] ?? '' });
  return {
    status: intentStatuses.find((each) => each === query['status']),
    ...range,
    ...(ownOnly && search?.kind !== 'reference' && isEarlier && { from: today }),
    network: query['network'] === '' ? undefined : query['network'],
    paymentLinkId: idOf(query['link']),
    customerId: idOf(query['customer']),
    terminalIds: terminalIdsOf(idOf(query['counter']), ownOnly ? membership.terminalIds : null),
    ...((paid.from ?? paid.to) && { paid }),
    search,
    now,
  };
}

/** With the reference by which it was found, which lets a cashier open an older payment. */
export function hrefOf({ intent }: FoundPayment, term: string): string {
  const search = searchOf(term);
  const path = `/payments/${intent.id}`;
  return search?.kind === 'reference' ? `${path}?reference=${encodeURIComponent(search.reference)}` : path;
}

function searchOf(term: string): PaymentSearch | undefined {
  return term.trim() === '' ? undefined : paymentSearchOf(term);
}

function idOf(text: string | undefined): string | undefined {
  return text !== undefined && isUuid(text) ? text : undefined;
}

/** The chosen counter, of those that the person may see; null are all. */
function terminalIdsOf(chosen: string | undefined, own: readonly string[] | null): readonly string[] | undefined {
  if (chosen === undefined) return own ?? undefined;
  return own === null || own.includes(chosen) ? [chosen] : [];
}
