import { balancePage } from './balance/balance-page.ts';
import { movementsPage } from './balance/movements-page.ts';
import { onItsWayPages } from './balance/on-its-way.ts';
import { statementPages } from './balance/statement-page.ts';
import { closeDay } from './counters/close-day.ts';
import { counterForms } from './counters/counter-forms.ts';
import { counterLists } from './counters/counter-list.ts';
import { counterPage } from './counters/counter-page.ts';
import { posterPages } from './counters/poster-pages.ts';
import { auditPages } from './audit/audit-pages.ts';
import { inSection, type SectionRoute } from '../portal/patterns/page-route.ts';
import type { DashboardKind } from './dashboard-route.ts';
import { figureExport } from './home/figure-export.ts';
import { figurePage } from './home/figure-page.ts';
import { homePage } from './home/home-page.ts';
import { groupLists } from './groups/group-list.ts';
import { groupPages } from './groups/group-pages.ts';
import { linkForms } from './links/link-forms.ts';
import { linkLists } from './links/link-list.ts';
import { linkPage } from './links/link-page.ts';
import { endpointPages } from './endpoints/endpoint-pages.ts';
import { eventPages } from './events/event-pages.ts';
import { keyPages } from './keys/key-pages.ts';
import { referencePage } from './reference/reference-page.ts';
import { requestPages } from './requests/request-pages.ts';
import { morePage, switchEnvironment } from './more-page.ts';
import { customerPages } from './customers/customer-pages.ts';
import { newPayment } from './payments/new-payment.ts';
import { counterScreen } from './counter-screen/counter-screen.ts';
import { stream } from './live/stream-route.ts';
import { paymentLists } from './payments/payment-list.ts';
import { paymentPages } from './payments/payment-page.ts';
import { businessPages } from './settings/business-page.ts';
import { checkoutSettings } from './settings/checkout-page.ts';
import { limitSettings } from './settings/limits-page.ts';
import { livePages } from './settings/live-pages.ts';
import { payoutSettings } from './settings/payouts-page.ts';
import { settingsOverview } from './settings/settings-overview.ts';
import { subAccountMoneyForms } from './sub-accounts/money-forms.ts';
import { subAccountForms } from './sub-accounts/sub-account-forms.ts';
import { subAccountLists } from './sub-accounts/sub-account-list.ts';
import { subAccountPages } from './sub-accounts/sub-account-page.ts';
import { searchOther, searchPage } from './search/search-page.ts';
import { teamPages } from './team/team-pages.ts';
import { receiptPages } from './receipts/receipt-page.ts';
import { receiptLists } from './receipts/receipt-list.ts';
import { newRefund } from './refunds/new-refund.ts';
import { refundPages } from './refunds/refund-pages.ts';
import { splitPage } from './split/split-page.ts';
import { newTransfer } from './transfers/new-transfer.ts';
import { transferRequestPages } from './transfers/request-pages.ts';
import { transferPages } from './transfers/transfer-pages.ts';

/** Every page and action of the dashboard, by the section that the navigation marks; the authorisation matrix walks this table. */
export const dashboardRoutes: readonly SectionRoute<DashboardKind>[] = [
  ...inSection('home', [homePage, figurePage, figureExport]),
  ...inSection('payments', [...paymentLists, ...newPayment, ...paymentPages, ...newRefund, stream]),
  ...inSection('counters', [...counterScreen, ...counterLists, ...counterForms, ...posterPages, closeDay, counterPage]),
  ...inSection('settings', [
    ...[settingsOverview, ...businessPages, ...checkoutSettings],
    ...[...payoutSettings, ...limitSettings, ...livePages],
  ]),
  ...inSection('links', [...linkLists, ...linkForms, linkPage]),
  ...inSection('sub-accounts', [
    ...[...subAccountLists, ...subAccountForms],
    ...[...subAccountMoneyForms, ...subAccountPages],
  ]),
  ...inSection('groups', [...groupLists, ...groupPages]),
  ...inSection('balance', [balancePage, movementsPage, ...onItsWayPages, ...statementPages]),
  ...inSection('search', [searchPage, searchOther]),
  ...inSection('team', teamPages),
  ...inSection('audit', auditPages),
  ...inSection('refunds', refundPages),
  ...inSection('receipts', [...receiptLists, ...receiptPages]),
  ...inSection('transfers', [...newTransfer, ...transferRequestPages, ...transferPages]),
  ...inSection('customers', customerPages),
  ...inSection('split', [splitPage]),
  ...inSection('keys', keyPages),
  ...inSection('endpoints', endpointPages),
  ...inSection('events', eventPages),
  ...inSection('requests', requestPages),
  ...inSection('reference', [referencePage]),
  ...inSection('more', [morePage, switchEnvironment]),
];
