import { auditList } from './audit/audit-list.ts';
import { approvalPages } from './businesses/approval-pages.ts';
import { businessPages } from './businesses/business-pages.ts';
import { termsPages } from './businesses/terms-pages.ts';
import { caseList } from './cases/case-list.ts';
import { casePages } from './cases/case-pages.ts';
import type { ConsoleRoute } from './console-route.ts';
import { morePage } from './frame.ts';
import { homePage } from './home-page.ts';
import { ledgerPages } from './ledger/ledger-pages.ts';
import { operatorPages } from './logins/operator-pages.ts';
import { queuesPage } from './queues-page.ts';

/** Pages below `/operator`; the authorisation matrix walks both tables. */
export const installationRoutes: readonly ConsoleRoute[] = [
  ...businessPages,
  ...approvalPages,
  ...termsPages,
  ...operatorPages,
  ...ledgerPages,
  auditList,
  queuesPage,
  morePage,
];

/** Pages below `/operator/test` and `/operator/live`. */
export const environmentRoutes: readonly ConsoleRoute[] = [homePage, caseList, ...casePages];
