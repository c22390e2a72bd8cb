import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../api/app-error.ts';
import type { Log } from '../../kit/log.ts';
import { logRefusal } from '../../api/log-refusal.ts';
import { readTerminalAddress } from '../../terminals/terminal-address.ts';
import { createPageSender } from '../document.ts';
import type { PageContent, PageSender } from '../document.ts';
import { createFormGuard } from '../form-guard.ts';
import { loadStyle } from '../inline-asset.ts';
import { preparePageScope, seeOther } from '../page-scope.ts';
import { codePage } from './code-page.ts';
import { closedPage, collectPage, confirmCounterPage } from './collect-page.ts';
import type { CollectPageModel, RefusedCollect } from './collect-page.ts';
import type { CollectTargets, CollectTarget } from './collect-targets.ts';
import { readAmount } from './read-amount.ts';
import { refusalInWords } from './refusal-in-words.ts';

export interface CollectPagesOptions {
  targets: CollectTargets;
  log: Log;
  publicUrl: () => string;
  /** The key of the forms' proofs; the same in every process. */
  formKey: string | Uint8Array;
}

const style = loadStyle(
  new URL('../style.css', import.meta.url),
  new URL('../controls.css', import.meta.url),
  new URL('collect.css', import.meta.url),
);

/**
 * The pages of payment links (`/link/:token`) and counters (`/pos/:code`), which create a payment and redirect to its page.
 * `/pos` asks for a counter's code. A code may be written as on the poster; the page of every spelling is the same.
 */
export const collectPages: FastifyPluginAsync<CollectPagesOptions> = async (app, options) => {
  const { targets, log, publicUrl } = options;
  const guard = createFormGuard({ publicUrl, key: options.formKey });
  const sender = createPageSender({ publicUrl, style, script: null });
  const finders = { '/link': targets.findLink, '/pos': targets.findCounter };
  for (const [prefix, find] of Object.entries(finders)) {
    await app.register(
      async (scope) => {
        await preparePageScope(scope, { sender, guard, publicUrl, log, homeOf: pathOf });
        const send = (
          request: FastifyRequest,
          reply: FastifyReply,
          target: CollectTarget,
          refused: RefusedCollect | null,
        ) => {
          // For the path that the form posts to; the opened path may be another spelling of it.
          const { language } = request;
          const model = { ...target.model, language, formProof: guard.field(target.model.path), refused };
          if (refused?.retryAfterSeconds !== undefined) reply.header('retry-after', refused.retryAfterSeconds);
          return sender.send(request, reply, {
            status: statusOf(target, refused),
            content: contentOf(target, model, request.query as { counter?: unknown }),
          });
        };
        scope.get('/:key', async (request, reply) => send(request, reply, await findTarget(find, request), null));
        scope.post('/:key', async (request, reply) => {
          const target = await findTarget(find, request);
          if (target.closed) return send(request, reply, target, null);
          const outcome = await handleForm(target, request, log);
          if ('refused' in outcome) return send(request, reply, target, outcome.refused);
          return seeOther(reply, outcome.payPath);
        });
        if (prefix === codePath) addCodePage(scope, { find, sender });
      },
      { prefix },
    );
  }
};

function contentOf(
  { closed, unconfirmed }: CollectTarget,
  model: CollectPageModel,
  query: { counter?: unknown },
): PageContent {
  if (closed !== null) return closedPage(model, closed);
  const needsConfirmation = unconfirmed && query.counter !== 'right' && model.refused === null;
  return needsConfirmation ? confirmCounterPage(model) : collectPage(model);
}

const codePath = '/pos';

/** A typed code redirects to its counter's own URL. Throws AppError `rate_limited` after too many guessed codes. */
function addCodePage(
  scope: FastifyInstance,
  { find, sender }: { find: CollectTargets['findCounter']; sender: PageSender },
): void {
  scope.get('/', async (request, reply) => {
    const { code: sent } = request.query as { code?: unknown };
    const showForm = (status: number, refusedCode: string | null) =>
      sender.send(request, reply, { status, content: codePage(codePath, request.language, refusedCode) });
    if (sent === undefined) return showForm(200, null);
    const code = textOf(sent);
    if (readTerminalAddress(code) === null) return showForm(400, code);
    const target = await find(code, request.ip);
    return target ? seeOther(reply, target.model.path) : showForm(404, code);
  });
}

function statusOf({ closed }: CollectTarget, refused: RefusedCollect | null): number {
  if (closed) return 410;
  if (!refused) return 200;
  return refused.retryAfterSeconds === undefined ? 400 : 429;
}

async function handleForm(
  target: CollectTarget,
  request: FastifyRequest,
  log: Log,
): Promise<{ payPath: string } | { refused: RefusedCollect }> {
  const body = (request.body ?? {}) as Record<string, unknown>;
  const amount = textOf(body['amount']);
  const answers = target.model.customFields.map((_label, index) => textOf(body[`field_${index}`]));
  const typed = readAmount(amount);
  if ('problem' in typed) {
    const message = request.language.t(typed.problem);
    return { refused: { amount, answers, errors: [{ field: 'amount', message }] } };
  }
  try {
    return { payPath: await target.pay({ amountMinor: typed.amountMinor, answers }, { requestId: request.id }) };
  } catch (error) {
    if (!(error instanceof AppError) || error.statusCode >= 500) throw error;
    logRefusal(log, request.id, error);
    const refusal = { error, model: target.model, amountMinor: typed.amountMinor };
    const errors = [refusalInWords(request.language.t, refusal)];
    return { refused: { amount, answers, errors, retryAfterSeconds: error.retryAfterSeconds } };
  }
}

/** Throws AppError `not_found`, and `rate_limited` after too many guessed counter codes. */
async function findTarget(find: CollectTargets['findCounter'], request: FastifyRequest): Promise<CollectTarget> {
  const target = await find(keyOf(request), request.ip);
  if (!target) throw new AppError('not_found', 'There is nothing to pay at this address.');
  return target;
}

function keyOf(request: FastifyRequest): string {
  return (request.params as { key?: string }).key ?? '';
}

/** Without the query. */
function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? request.url;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 400) : '';
}
