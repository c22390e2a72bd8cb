import { listOwed, owedDescriptions, type Owed } from '../../debts/what-is-owed.ts';
import { html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import { foreignText } from '../../pages/page-text.ts';
import { shownTime, twoLines } from '../../portal/patterns/texts.ts';
import { ageText } from '../age.ts';
import { merchantsOf } from '../businesses/business.ts';
import { listRoute } from '../console-route.ts';

type DebtRow = Owed & { id: string; merchant: Merchant };

/** Who owes whom, and what ends it; the largest debt times its age comes first. */
export const debtList = listRoute<DebtRow>({
  path: '/debts',
  action: 'records.read',
  title: 'Debts',
  noun: ['debt', 'debts'],
  filters: [],
  async read(visit) {
    const { now } = visit;
    const merchants = await merchantsOf(visit);
    const rows = (await listOwed(visit.money.db)).flatMap((owed) => {
      const merchant = merchants.get(owed.merchantId);
      return merchant ? [{ ...owed, id: `${owed.merchantId}-${owed.account}`, merchant }] : [];
    });
    const weight = ({ amountMinor, since }: DebtRow): number => Number(amountMinor) * (now.getTime() - since.getTime());
    const sumMinor = rows.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
    return {
      rows: rows.toSorted((one, other) => weight(other) - weight(one)),
      total: rows.length,
      nextCursor: null,
      sumMinor,
    };
  },
  columns: [
    {
      header: 'Business',
      isMain: true,
      cell: ({ merchant, kind }) => twoLines(foreignText(merchant.name), owedDescriptions[kind].who),
    },
    { header: 'Debt', cell: ({ kind }) => owedDescriptions[kind].who },
    { header: 'Since', cell: ({ since }, { now }) => html`${shownTime(since, now)} (${ageText(since, now)})` },
    { header: 'Ends when', cell: ({ kind }) => owedDescriptions[kind].endsBy },
    { header: 'Owed', isMain: true, isNumber: true, cell: ({ amountMinor }) => formatAmount(amountMinor) },
  ],
  href: ({ merchantId, account }) => `/ledger/explain?merchant=${merchantId}&account=${encodeURIComponent(account)}`,
  empty: { text: 'Nobody owes anything.' },
});
