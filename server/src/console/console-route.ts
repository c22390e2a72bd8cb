import type { OperatorAction } from '../accounts/permissions.ts';
import { formRoutes as portalFormRoutes, type FormPage } from '../portal/patterns/form-page.ts';
import { listRoutes as portalListRoutes } from '../portal/patterns/list-export.ts';
import { listRoute as portalListRoute, type ListPage } from '../portal/patterns/list-page.ts';
import type { PageResult, PageRoute } from '../portal/patterns/page-route.ts';
import type { ConsoleVisit } from './visit.ts';

/** The part of the console that a page belongs to, which the navigation marks. */
export type Section =
  | 'home'
  | 'search'
  | 'cases'
  | 'networks'
  | 'queues'
  | 'totals'
  | 'ledger'
  | 'reconciliation'
  | 'businesses'
  | 'rail-accounts'
  | 'defaults'
  | 'operators'
  | 'audit'
  | 'more';

/** The types of the console's pages. */
export interface ConsoleKind {
  visit: ConsoleVisit;
  action: OperatorAction;
  section: Section;
  /** The console has nothing but pages. */
  more: PageResult;
}

/** A page or an action of the console. */
export type ConsoleRoute = PageRoute<ConsoleKind>;

/** A list of the console. */
export function listRoute<Row extends { id: string }>(page: ListPage<Row, ConsoleKind>): ConsoleRoute {
  return portalListRoute(page);
}

/** A list with its file. */
export function listRoutes<Row extends { id: string }>(page: ListPage<Row, ConsoleKind>): ConsoleRoute[] {
  return portalListRoutes(page);
}

/** The two routes of a form of the console. */
export function formRoutes<Subject>(page: FormPage<Subject, ConsoleKind>): ConsoleRoute[] {
  return portalFormRoutes(page);
}
