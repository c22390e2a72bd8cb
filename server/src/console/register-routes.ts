import type { FastifyInstance } from 'fastify';
import { hasSecondFactor } from '../accounts/second-factor.ts';
import { html } from '../kit/html.ts';
import { seeOther } from '../pages/page-scope.ts';
import { environmentParameter } from '../portal/environment.ts';
import type { Page, SectionRoute } from '../portal/patterns/page-route.ts';
import { roleName } from '../portal/patterns/texts.ts';
import { inputOf, runPage, sendDownload } from '../portal/patterns/run-page.ts';
import type { PortalParts } from '../portal/portal-scope.ts';
import { requireSignedIn } from '../portal/sign-in/signed-in-only.ts';
import { filesOf, registerWithFiles } from '../portal/uploaded-files.ts';
import { recordExport, RecordedReads } from './audit/reads.ts';
import type { ConsoleKind } from './console-route.ts';
import { frame } from './frame.ts';
import type { ConsoleServices } from './services.ts';
import { findVisit, type ConsoleVisit } from './visit.ts';

/** The base of what is about one environment. */
export const ofEnvironment = `/${environmentParameter}` as const;

/** Registers pages below `/operator`, or below `/operator/{environment}`. Whoever has no second factor is led to setting one up. */
export function registerRoutes(
  scope: FastifyInstance,
  { parts, services, base }: { parts: PortalParts; services: ConsoleServices; base: '' | typeof ofEnvironment },
  routes: readonly SectionRoute<ConsoleKind>[],
): void {
  const reads = new RecordedReads();
  for (const route of routes) {
    registerWithFiles(scope, { parts, uploadBytesMax: route.uploadBytesMax }, (target) =>
      target.route<{ Params: Record<string, string> }>({
        method: route.method,
        url: `${base}${route.path}`,
        handler: requireSignedIn(parts, async (request, reply, signedIn) => {
          if (!(await hasSecondFactor(parts.context.db, signedIn.account))) {
            return seeOther(reply, `${parts.home}/account`);
          }
          const { environment = null } = request.params;
          const guardField = parts.guardField(request);
          const visit = await findVisit(services, request, signedIn, { environment, guardField });
          const refused = () => refusedPage(visit);
          const input = { ...inputOf(request), files: filesOf(request) };
          const setToken = (token: string) => parts.cookies.set(request, reply, token);
          const result = await runPage<ConsoleKind>(route, { visit, input, refused, setToken });
          if ('redirectTo' in result) return seeOther(reply, result.redirectTo);
          if ('redirect' in result) return seeOther(reply, `${visit.base}${result.redirect}`);
          const seen = { route, input };
          if ('download' in result)
            return sendDownload(reply, result.download, (name) => recordExport(visit, seen, name));
          const { status = 200, title, body } = result;
          if (status === 200) await reads.note(visit, seen);
          const where = environment === null ? '' : `${environment === 'test' ? 'Test' : 'Live'} · `;
          return parts.send(request, reply, {
            status,
            title: `${where}${title} · Operator`,
            body: frame(visit, route.section, body),
          });
        }),
      }),
    );
  }
}

function refusedPage({ operator }: ConsoleVisit): Page {
  return {
    status: 403,
    title: 'Not allowed',
    body: html`<section class="empty"><h1>Your role does not allow this</h1>
<p>As ${roleName(operator.role)} you cannot do this. Nothing was done. Ask an operator with the role ${roleName('admin')}.</p></section>`,
  };
}
