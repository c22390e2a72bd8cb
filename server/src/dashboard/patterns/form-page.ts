import { formRoutes as portalFormRoutes, type FormPage } from '../../portal/patterns/form-page.ts';
import type { DashboardKind, DashboardRoute } from '../dashboard-route.ts';
import { keyOfForm } from './act.ts';

export interface DashboardForm<Subject> extends Omit<FormPage<Subject, DashboardKind>, 'hasActed'> {
  /**
   * The API's operation that `submit` calls, with the parameters of the page's address: by its idempotency key a form knows that
   * it has acted.
   */
  operation?: string;
}

/** The two routes of a form of the dashboard. */
export function formRoutes<Subject>({ operation, ...page }: DashboardForm<Subject>): DashboardRoute[] {
  return portalFormRoutes<Subject, DashboardKind>({
    ...page,
    ...(operation !== undefined && {
      hasActed: ({ api, caller }, { params, formId }) =>
        api.hasActed(operation, { caller, params, idempotencyKey: keyOfForm(formId) }),
    }),
  });
}
