import { formRoutes as portalFormRoutes, type FormPage } from '../../portal/patterns/form-page.ts';
import type { DashboardKind, DashboardRoute } from '../dashboard-route.ts';
import { keyOfForm } from './act.ts';

export interface DashboardForm<Subject> extends FormPage<Subject, DashboardKind> {
  /**
   * The API's operation that `submit` calls, with the parameters of the page's address: by its idempotency key a form knows that
   * it has acted. `hasActed` looks for what else `submit` may have done.
   */
  operation?: string;
}

/** The two routes of a form of the dashboard. */
export function formRoutes<Subject>({ operation, ...page }: DashboardForm<Subject>): DashboardRoute[] {
  return portalFormRoutes<Subject, DashboardKind>({
    ...page,
    ...(operation !== undefined && {
      hasActed: async (visit, form) =>
        (await visit.api.hasActed(operation, { params: form.params, idempotencyKey: keyOfForm(form.formId) })) ||
        (await page.hasActed?.(visit, form)) === true,
    }),
  });
}
