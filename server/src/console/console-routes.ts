import { auditPages } from './audit/audit-list.ts';
import { approvalPages } from './businesses/approval-pages.ts';
import { appearancePages } from './businesses/appearance-pages.ts';
import { businessForms } from './businesses/business-forms.ts';
import { businessList } from './businesses/business-list.ts';
import { businessPage } from './businesses/business-page.ts';
import { keyPages } from './businesses/key-pages.ts';
import { settlementRun } from './businesses/settlement-run.ts';
import { caseList } from './cases/case-list.ts';
import { casePages } from './cases/case-pages.ts';
import type { ConsoleRoute } from './console-route.ts';
import { debtList } from './debts/debt-list.ts';
import { morePage } from './frame.ts';
import { homePage } from './home/home-page.ts';
import { ledgerPages } from './ledger/ledger-pages.ts';
import { operatorPages } from './logins/operator-pages.ts';
import { messagePage } from './networks/message-page.ts';
import { networkPages } from './networks/network-pages.ts';
import { queuesPage } from './queues/queues-page.ts';
import { railAccountPages } from './rail-accounts/rail-account-pages.ts';
import { receiptPages } from './receipts/receipt-pages.ts';
import { reconciliationPages } from './reconciliation/reconciliation-pages.ts';
import { recordPage } from './records/record-page.ts';
import { searchPage } from './search/search-page.ts';
import { defaultsPage } from './terms/default-page.ts';
import { feeTerms } from './terms/fee-terms.ts';
import { limitTerms } from './terms/limit-terms.ts';
import { rateLimitTerms } from './terms/rate-limit-terms.ts';
import { totalsPages } from './totals/totals-list.ts';

/** Pages below `/operator`; the authorisation matrix walks both tables. */
export const installationRoutes: readonly ConsoleRoute[] = [
  businessList,
  ...businessForms,
  businessPage,
  ...approvalPages,
  ...appearancePages,
  ...keyPages,
  ...settlementRun,
  ...receiptPages,
  ...railAccountPages,
  defaultsPage,
  ...feeTerms,
  ...limitTerms,
  ...rateLimitTerms,
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
  ...[...messagePage, ...networkPages],
  queuesPage,
  ...totalsPages,
  ...ledgerPages,
  ...reconciliationPages,
  morePage,
];
