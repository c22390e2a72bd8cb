import { listRoutes as portalListRoutes } from '../../portal/patterns/list-export.ts';
import { listRoute as portalListRoute, type ListPage as PortalListPage } from '../../portal/patterns/list-page.ts';
import type { DashboardKind, DashboardRoute } from '../dashboard-route.ts';

export type ListPage<Row extends { id: string }> = PortalListPage<Row, DashboardKind>;

/** A list of the dashboard. */
export function listRoute<Row extends { id: string }>(page: ListPage<Row>): DashboardRoute {
  return portalListRoute(page);
}

/** A list with its file. */
export function listRoutes<Row extends { id: string }>(page: ListPage<Row>): DashboardRoute[] {
  return portalListRoutes(page);
}
