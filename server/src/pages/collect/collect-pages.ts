import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../kit/app-error.ts';
import type { Log } from '../../kit/log.ts';
import { logRefusal } from '../../kit/log-refusal.ts';
import { createPageSender } from '../document.ts';
import { createFormGuard } from '../form-guard.ts';
import { loadStyle } from '../inline-asset.ts';
import { preparePageScope, seeOther } from '../page-scope.ts';
import { collectPage, confirmCounterPage } from './collect-page.ts';
import type { RefusedCollect } from './collect-page.ts';
import type { CollectPlaces, Place } from './places.ts';
import { readAmount } from './read-amount.ts';

export interface CollectPagesOptions {
  places: CollectPlaces;
  log: Log;
  publicUrl: () => string;
  /** For the forms' proofs; the same in every process. */
  formKey: string | Uint8Array;
}

const style = loadStyle(
  new URL('../style.css', import.meta.url),
  new URL('../controls.css', import.meta.url),
  new URL('collect.css', import.meta.url),
);

/** The pages behind payment links (`/link/:token`) and counters (`/pos/:code`): they make the payment and lead to it. */
export const collectPages: FastifyPluginAsync<CollectPagesOptions> = async (app, options) => {
  const { places, log, publicUrl } = options;
  const guard = createFormGuard({ publicUrl, key: options.formKey });
  const sender = createPageSender({ publicUrl, style, script: null });
  const finders = { '/link': places.findLink, '/pos': places.findCounter };
  for (const [prefix, find] of Object.entries(finders)) {
    await app.register(
      async (scope) => {
        await preparePageScope(scope, { sender, guard, log, homeOf: pathOf });
        const send = (request: FastifyRequest, reply: FastifyReply, place: Place, refused: RefusedCollect | null) => {
          // For the address that the form is sent to: the one that was opened may be another spelling of it.
          const scene = { ...place.scene, formProof: guard.field(place.scene.path), refused };
          const asks = place.unconfirmed && (request.query as { counter?: unknown }).counter !== 'right';
          const content = place.closed ?? (asks && refused === null ? confirmCounterPage(scene) : collectPage(scene));
          if (refused?.retryAfterSeconds !== undefined) reply.header('retry-after', refused.retryAfterSeconds);
          return sender.send(request, reply, { status: statusOf(place, refused), content });
        };
        scope.get('/:key', async (request, reply) => send(request, reply, await openPlace(find, request), null));
        scope.post('/:key', async (request, reply) => {
          const place = await openPlace(find, request);
          if (place.closed) return send(request, reply, place, null);
          const answer = await answerForm(place, request, log);
          if ('refused' in answer) return send(request, reply, place, answer.refused);
          return seeOther(reply, answer.payPath);
        });
      },
      { prefix },
    );
  }
};

function statusOf({ closed }: Place, refused: RefusedCollect | null): number {
  if (closed) return 410;
  if (!refused) return 200;
  return refused.retryAfterSeconds === undefined ? 400 : 429;
}

async function answerForm(
  place: Place,
  request: FastifyRequest,
  log: Log,
): Promise<{ payPath: string } | { refused: RefusedCollect }> {
  const body = (request.body ?? {}) as Record<string, unknown>;
  const amount = textOf(body['amount']);
  const answers = place.scene.customFields.map((_label, index) => textOf(body[`field_${index}`]));
  const typed = readAmount(amount);
  if ('problem' in typed)
    return { refused: { amount, answers, errors: [{ field: 'amount', message: typed.problem }] } };
  try {
    return { payPath: await place.pay({ amountMinor: typed.amountMinor, answers }, { requestId: request.id }) };
  } catch (error) {
    if (!(error instanceof AppError) || error.statusCode >= 500) throw error;
    logRefusal(log, request.id, error);
    const fields = error.fields ?? [];
    const known = place.scene.amountMinor === null || fields.every(({ path }) => path !== 'amount');
    const errors =
      fields.length > 0 && known
        ? fields.map(({ path, message }) => ({ field: path, message }))
        : [{ field: null, message: error.message }];
    return { refused: { amount, answers, errors, retryAfterSeconds: error.retryAfterSeconds } };
  }
}

/** Throws AppError `not_found`, and `rate_limited` where too many codes of counters were guessed. */
async function openPlace(find: CollectPlaces['findCounter'], request: FastifyRequest): Promise<Place> {
  const place = await find(keyOf(request), request.ip);
  if (!place) throw new AppError('not_found', 'There is nothing to pay at this address.');
  return place;
}

function keyOf(request: FastifyRequest): string {
  return (request.params as { key?: string }).key ?? '';
}

/** Without the query: the same page, whatever was said on it. */
function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? request.url;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 400) : '';
}
