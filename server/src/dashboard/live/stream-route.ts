import { intentTopic } from '../../payments/context.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import type { DashboardRoute, LiveFeed } from '../dashboard-route.ts';
import { counterFeed } from '../counter-screen/counter-feed.ts';
import { paymentListPage } from '../payments/payment-list.ts';
import { paymentVersion } from '../payments/payment-page.ts';
import { findVisiblePayment } from '../payments/visible-payment.ts';
import type { Visit } from '../visit.ts';
import { listFeed } from './list-feed.ts';

/** The one event stream of a page: of a list with its filters, of a payment, or of a counter's screen. */
export const stream: DashboardRoute = {
  path: '/stream',
  action: 'payments.read',
  async handle(visit, { query }) {
    const { counter, payment } = query;
    if (counter !== undefined) return { live: await counterFeed(visit, counter) };
    if (payment !== undefined) return { live: await paymentFeed(visit, payment, query) };
    return { live: listFeed(paymentListPage, visit, query) };
  },
};

/** Says when the page of a payment has to be read again. Throws AppError `not_found`. */
async function paymentFeed(visit: Visit, id: string, query: PageInput['query']): Promise<LiveFeed> {
  const input = { params: { id }, query };
  await findVisiblePayment(visit, input);
  let known = query['version'];
  return {
    page: `/payments/${id}`,
    topics: [intentTopic(id)],
    async read(current) {
      const next = paymentVersion(current, await findVisiblePayment(current, input));
      if (next === known) return [];
      known = next;
      return [{ name: 'changed', data: next }];
    },
  };
}
