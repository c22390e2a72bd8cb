import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../api/app-error.ts';
import type { Log } from '../../kit/log.ts';
import type { Random } from '../../kit/random.ts';
import { typedDigits } from '../../kit/typed-digits.ts';
import { readTerminalAddress } from '../../terminals/terminal-address.ts';
import { queryAfter } from '../checkout/after-pay.ts';
import type { CheckoutRenderer } from '../checkout/checkout-renderer.ts';
import { createPageSender, type PageContent, type PageSender } from '../document.ts';
import { type FormGuard, type FormGuardOptions, createFormGuard } from '../form-guard.ts';
import { commonStyles, loadScript, loadStyle } from '../inline-asset.ts';
import type { NetworkDetails } from '../logos/network-details.ts';
import { preparePageScope, seeOther } from '../page-scope.ts';
import { codePage } from './code-page.ts';
import {
  closedPage,
  collectPage,
  confirmCounterPage,
  confirmedQuery,
  type CollectPageModel,
  type RefusedCollect,
} from './collect-page.ts';
import type { CollectTargets, CollectTarget } from './collect-targets.ts';
import { handleCollectForm, textOf } from './collect-form.ts';
import { newFormId, readFormId } from './form-id.ts';

export interface CollectPagesOptions extends FormGuardOptions {
  targets: CollectTargets;
  log: Log;
  random: Random;
  networkDetails: NetworkDetails;
  /** Renders the payment's page in response to the form, for a browser whose scripts run. */
  checkoutRenderer: CheckoutRenderer;
}

const codePath = '/pos';

const style = loadStyle(
  ...commonStyles,
  new URL('../network-fields.css', import.meta.url),
  new URL('collect.css', import.meta.url),
);
export const collectScript = loadScript(
  new URL('collect.js', import.meta.url),
  new URL('../keep-typed.js', import.meta.url),
  new URL('../likely-network.js', import.meta.url),
);

/**
 * The pages of payment links (`/link/:token`) and counters (`/pos/:code`), which create a payment and lead to its page.
 * `/pos` asks for a counter's code. A code may be written as on the poster; the page of every spelling is the same.
 */
export const collectPages: FastifyPluginAsync<CollectPagesOptions> = async (app, options) => {
  const { targets, log, publicUrl } = options;
  const guard = createFormGuard(options);
  const sender = createPageSender({ publicUrl, style, script: collectScript });
  const codeSender = createPageSender({ publicUrl, style, script: null });
  const finders = { '/link': targets.findLink, [codePath]: targets.findCounter };
  for (const [prefix, find] of Object.entries(finders)) {
    await app.register(
      async (scope) => {
        await preparePageScope(scope, { sender, guard, publicUrl, log, homeOf: pathOf });
        addTargetPages(scope, { ...options, prefix, find, guard, sender, codeSender });
        if (prefix === codePath) addCodePage(scope, { find, sender: codeSender });
      },
      { prefix },
    );
  }
};

interface TargetPages extends Pick<
  CollectPagesOptions,
  'log' | 'random' | 'networkDetails' | 'checkoutRenderer' | 'publicUrl'
> {
  prefix: string;
  find: CollectTargets['findCounter'];
  guard: FormGuard;
  sender: PageSender;
  /** For the page that asks for a counter's code. */
  codeSender: PageSender;
}

function addTargetPages(scope: FastifyInstance, pages: TargetPages): void {
  const { prefix, find, guard, sender, log, random, checkoutRenderer, networkDetails } = pages;
  const send = (
    request: FastifyRequest,
    reply: FastifyReply,
    { target, refused, formId }: { target: CollectTarget; refused: RefusedCollect | null; formId: string | null },
  ) => {
    const model = {
      ...target.model,
      language: request.language,
      networkDetails,
      publicUrl: pages.publicUrl(),
      // For the path that the form posts to; the opened path may be another spelling of it.
      formProof: guard.field(target.model.path),
      formId: formId ?? newFormId(random),
      refused,
    };
    if (refused?.retryAfterSeconds !== undefined) reply.header('retry-after', refused.retryAfterSeconds);
    return sender.send(request, reply, {
      status: statusOf(target, refused),
      content: contentOf(target, model, request.query as { counter?: unknown }),
    });
  };
  const sendUnknown = (request: FastifyRequest, reply: FastifyReply) => {
    // Most are typed from a poster, so the page lets the payer correct the code.
    if (prefix === codePath)
      return sendCodePage(request, reply, pages.codeSender, { status: 404, refusedCode: keyOf(request).slice(0, 40) });
    throw new AppError('not_found', 'There is nothing to pay at this address.');
  };

  scope.get('/:key', async (request, reply) => {
    const target = await find(keyOf(request), request.ip);
    return target ? send(request, reply, { target, refused: null, formId: null }) : sendUnknown(request, reply);
  });

  scope.post('/:key', async (request, reply) => {
    const target = await find(keyOf(request), request.ip);
    if (!target) return sendUnknown(request, reply);
    const formId = readFormId(request.body);
    if (target.closed && formId === null) return send(request, reply, { target, refused: null, formId });
    // What was closed creates nothing, but a form that has created a payment before still leads to it.
    const outcome = await handleCollectForm(target, request, log);
    if ('refused' in outcome) {
      return send(request, reply, { target, refused: target.closed ? null : outcome.refused, formId });
    }
    const { started, sent } = outcome;
    const { path } = started;
    const isRedirected = !runsScripts(request);
    if (isRedirected && sent.choice === null) return seeOther(reply, path);
    const view = await started.view();
    const typedNumber = sent.choice?.accountNumber ?? null;
    const after = checkoutRenderer.afterPay(request, reply, { view, typedNumber });
    if (isRedirected) return seeOther(reply, path + queryAfter(after));
    return checkoutRenderer.send(request, reply, { ...checkoutRenderer.modelOf(request, path, view), ...after });
  });
}

/** `collect.js` has added the field. */
function runsScripts({ body }: FastifyRequest): boolean {
  return (body as Record<string, unknown> | null | undefined)?.['scripts'] === '1';
}

function contentOf(
  { closed, unconfirmed }: CollectTarget,
  model: CollectPageModel,
  query: { counter?: unknown },
): PageContent {
  if (closed !== null) return closedPage(model, closed);
  if (!unconfirmed) return collectPage(model);
  const isConfirmed = query.counter === 'right' || model.refused !== null;
  return isConfirmed ? collectPage(model, confirmedQuery) : confirmCounterPage(model);
}

/** A typed code redirects to its counter's own URL. Throws AppError `rate_limited` after too many guessed codes. */
function addCodePage(
  scope: FastifyInstance,
  { find, sender }: { find: CollectTargets['findCounter']; sender: PageSender },
): void {
  scope.get('/', async (request, reply) => {
    const { code: sent } = request.query as { code?: unknown };
    if (sent === undefined) return sendCodePage(request, reply, sender, { status: 200, refusedCode: null });
    const code = typedDigits(textOf(sent));
    if (readTerminalAddress(code) === null) {
      return sendCodePage(request, reply, sender, { status: 400, refusedCode: code });
    }
    const target = await find(code, request.ip);
    if (target) return seeOther(reply, target.model.path);
    return sendCodePage(request, reply, sender, { status: 404, refusedCode: code });
  });
}

function sendCodePage(
  request: FastifyRequest,
  reply: FastifyReply,
  sender: PageSender,
  { status, refusedCode }: { status: number; refusedCode: string | null },
): Promise<FastifyReply> {
  return sender.send(request, reply, { status, content: codePage(codePath, request.language, refusedCode) });
}

function statusOf({ closed }: CollectTarget, refused: RefusedCollect | null): number {
  if (closed) return 410;
  if (!refused) return 200;
  return refused.retryAfterSeconds === undefined ? 400 : 429;
}

function keyOf(request: FastifyRequest): string {
  return (request.params as { key?: string }).key ?? '';
}

/** Without the query. */
function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? request.url;
}
