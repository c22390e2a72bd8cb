import { auditPages } from './audit/audit-list.ts';
import { approvalPages } from './businesses/approval-pages.ts';
import { businessPages } from './businesses/business-pages.ts';
import { termsPages } from './businesses/terms-pages.ts';
import { caseList } from './cases/case-list.ts';
import { casePages } from './cases/case-pages.ts';
import type { ConsoleRoute } from './console-route.ts';
import { debtList } from './debts/debt-list.ts';
import { morePage } from './frame.ts';
import { homePage } from './home/home-page.ts';
import { ledgerPages } from './ledger/ledger-pages.ts';
import { operatorPages } from './logins/operator-pages.ts';
import { networkPages } from './networks/network-pages.ts';
import { queuesPage } from './queues/queues-page.ts';
import { recordPage } from './records/record-page.ts';
import { searchPage } from './search/search-page.ts';
import { totalsPages } from './totals/totals-list.ts';

/** Pages below `/operator`; the authorisation matrix walks both tables. */
export const installationRoutes: readonly ConsoleRoute[] = [
  ...businessPages,
  ...approvalPages,
  ...termsPages,
  ...operatorPages,
  ...auditPages,
];

/** Pages below `/operator/test` and `/operator/live`. */
export const environmentRoutes: readonly ConsoleRoute[] = [
  homePage,
  searchPage,
  recordPage,
  caseList,
  ...casePages,
  debtList,
  ...networkPages,
  queuesPage,
  ...totalsPages,
  ...ledgerPages,
  morePage,
];
