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
import { inSection, type SectionRoute } from '../portal/patterns/page-route.ts';
import type { ConsoleKind } from './console-route.ts';
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

const termsPages = [...feeTerms, ...limitTerms, ...rateLimitTerms];
const isOfDefaults = ({ path }: { path: string }): boolean => path.startsWith('/defaults/');

/** Pages below `/operator`, by the section that the navigation marks; the authorisation matrix walks both tables. */
export const installationRoutes: readonly SectionRoute<ConsoleKind>[] = [
  ...inSection('businesses', [
    ...[businessList, ...businessForms, businessPage, ...approvalPages, ...appearancePages],
    ...[...keyPages, ...settlementRun, ...receiptPages, ...termsPages.filter((page) => !isOfDefaults(page))],
  ]),
  ...inSection('rail-accounts', railAccountPages),
  ...inSection('defaults', [defaultsPage, ...termsPages.filter(isOfDefaults)]),
  ...inSection('operators', operatorPages),
  ...inSection('audit', auditPages),
];

/** Pages below `/operator/test` and `/operator/live`. */
export const environmentRoutes: readonly SectionRoute<ConsoleKind>[] = [
  ...inSection('home', [homePage]),
  ...inSection('search', [searchPage, recordPage]),
  ...inSection('cases', [caseList, ...casePages, debtList]),
  ...inSection('networks', [...messagePage, ...networkPages]),
  ...inSection('queues', [queuesPage]),
  ...inSection('totals', totalsPages),
  ...inSection('ledger', ledgerPages),
  ...inSection('reconciliation', reconciliationPages),
  ...inSection('more', [morePage]),
];
