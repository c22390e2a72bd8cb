import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { SignedIn } from '../accounts/sessions.ts';
import { roleName } from '../portal/patterns/texts.ts';
import { html } from '../kit/html.ts';
import { seeOther } from '../pages/page-scope.ts';
import type { Page, PageInput, PageResult, SectionRoute } from '../portal/patterns/page-route.ts';
import { inputOf, runPage, sendDownload } from '../portal/patterns/run-page.ts';
import type { PortalParts } from '../portal/portal-scope.ts';
import { requireSignedIn } from '../portal/sign-in/signed-in-only.ts';
import { maskedChanges } from '../audit/masked-fields.ts';
import type { DashboardKind } from './dashboard-route.ts';
import { audit } from './patterns/act.ts';
import { frame, screenFrame } from './frame.ts';
import type { EventStreams } from './live/event-streams.ts';
import type { DashboardServices } from './services.ts';
import { filesOf, registerWithFiles } from '../portal/uploaded-files.ts';
import { findVisit, type Visit } from './visit.ts';

interface RegisterOptions {
  parts: PortalParts;
  services: DashboardServices;
  streams: EventStreams;
}

/** Registers the pages below `/dashboard/{environment}/{merchant}`. */
export function registerRoutes(
  scope: FastifyInstance,
  { parts, services, streams }: RegisterOptions,
  routes: readonly SectionRoute<DashboardKind>[],
): void {
  for (const route of routes) {
    const register = (target: FastifyInstance): void => {
      target.route<{ Params: Record<string, string> }>({
        method: route.method,
        url: `/:merchant${route.path === '/' ? '' : route.path}`,
        handler: requireSignedIn(parts, async (request, reply, signedIn) => {
          const input = { ...inputOf(request), files: filesOf(request) };
          const { environment = 'test', merchant: shortId = '' } = request.params;
          const guardField = parts.guardField(request);
          const visitOf = (person: SignedIn) =>
            findVisit(services, request, person, { environment, shortId, guardField });
          const visit = await visitOf(signedIn);
          const refused = () => refusedPage(visit);
          const setToken = (token: string) => parts.cookies.set(request, reply, token);
          const result = await runPage<DashboardKind>(route, { visit, input, refused, setToken });
          if ('live' in result) {
            const revisit = async (): Promise<Visit | null> => {
              const person = await parts.cookies.find(request, { isUse: result.live.isUse === true });
              const next = person && (await visitOf(person));
              return next && isSameRole(visit, next) ? next : null;
            };
            return streams.send(request, reply, { feed: result.live, visit, revisit });
          }
          return respond(parts, { request, reply }, { visit, route, input }, result);
        }),
      });
    };
    registerWithFiles(scope, { parts, uploadBytesMax: route.uploadBytesMax }, register);
  }
}

/** Whoever has another role now, or other counters, has to open the page again. */
function isSameRole({ membership: before }: Visit, { membership: after }: Visit): boolean {
  return before.role === after.role && String(before.terminalIds) === String(after.terminalIds);
}

/** A role may have been taken away while its page was open: the page says so, and that nothing was done. */
function refusedPage({ membership, testMode }: Visit): Page {
  const where = testMode ? '' : ' in the live environment';
  return {
    status: 403,
    title: 'Not allowed',
    body: html`<section class="empty"><h1>Your role does not allow this</h1>
<p>As ${roleName(membership.role)} you cannot do this${where}. Nothing was done. Ask an owner of the business.</p></section>`,
  };
}

async function respond(
  parts: PortalParts,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { visit, route, input: { params, query } }: { visit: Visit; route: SectionRoute<DashboardKind>; input: PageInput },
  result: PageResult,
): Promise<FastifyReply> {
  if ('redirectTo' in result) return seeOther(reply, result.redirectTo);
  if ('redirect' in result) return seeOther(reply, `${visit.base}${result.redirect}`);
  if ('download' in result) {
    return sendDownload(reply, result.download, async (file) => {
      const act = { action: 'list.export', object: { type: route.section, id: params['id'] ?? null } };
      // The one of the audit log is a form, which writes its own.
      if (route.method === 'POST') return;
      await visit.accounts.db.withTransaction(async (tx) =>
        audit(tx, visit, { ...act, changes: maskedChanges({ file, ...query }) }),
      );
    });
  }
  const { status = 200, title, body, head } = result;
  const environment = visit.testMode ? 'Test' : 'Live';
  return parts.send(request, reply, {
    status,
    title: `${environment} · ${title} · ${visit.merchant.name}`,
    body: result.frame === 'screen' ? screenFrame(visit, body) : frame(visit, route.section, body),
    ...(head && { head }),
  });
}
