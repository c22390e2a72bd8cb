import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../kit/app-error.ts';
import type { Log } from '../../kit/log.ts';
import { payAtTerminal } from '../../links/pay-at-terminal.ts';
import { findLinkByToken, payLink } from '../../links/pay-link.ts';
import { linkState } from '../../links/payment-link.ts';
import type { PaymentLink } from '../../links/payment-link.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import type { PaymentContext } from '../../payments/context.ts';
import type { Intent } from '../../payments/intent.ts';
import { findTerminalByAddress } from '../../terminals/find-by-code.ts';
import type { TerminalAddressSettings, VirtualTerminal } from '../../terminals/terminal.ts';
import { createPageSender } from '../document.ts';
import type { PageContent } from '../document.ts';
import { createFormGuard } from '../form-guard.ts';
import { loadStyle } from '../inline-asset.ts';
import { preparePageScope, seeOther } from '../page-scope.ts';
import { closedPage, collectPage, confirmCounterPage } from './collect-page.ts';
import type { CollectScene, RefusedCollect } from './collect-page.ts';
import { readAmount } from './read-amount.ts';

export interface CollectPagesOptions {
  context: CollectContext;
  log: Log;
  publicUrl: () => string;
  /** For the forms' proofs; the same in every process. */
  formKey: string | Uint8Array;
}

type CollectContext = PaymentContext & { settings: TerminalAddressSettings };

const style = loadStyle(
  new URL('../style.css', import.meta.url),
  new URL('../controls.css', import.meta.url),
  new URL('collect.css', import.meta.url),
);

/** A page that somebody opened: what it shows, or why nothing can be paid there, and what its form makes. */
interface Place {
  scene: Omit<CollectScene, 'formProof' | 'refused'>;
  closed: PageContent | null;
  /** Whether the payer has to say first that this is the right counter. */
  unconfirmed: boolean;
  pay(sent: { amountMinor: bigint; answers: readonly string[] }): Promise<Intent>;
}

/** The pages behind payment links (`/link/:token`) and counters (`/pos/:code`): they make the payment and lead to it. */
export const collectPages: FastifyPluginAsync<CollectPagesOptions> = async (app, options) => {
  const { context, log, publicUrl } = options;
  const guard = createFormGuard({ publicUrl, key: options.formKey });
  const sender = createPageSender({ publicUrl, style, script: null });
  const finders = {
    '/link': (key: string) => findLinkPlace(context, key),
    '/pos': (key: string) => findCounterPlace(context, key),
  };
  for (const [prefix, find] of Object.entries(finders)) {
    await app.register(
      async (scope) => {
        await preparePageScope(scope, { sender, guard, log, homeOf: pathOf });
        const send = (request: FastifyRequest, reply: FastifyReply, place: Place, refused: RefusedCollect | null) => {
          const scene = { ...place.scene, formProof: guard.field(pathOf(request)), refused };
          const asks = place.unconfirmed && (request.query as { counter?: unknown }).counter !== 'right';
          const content = place.closed ?? (asks && refused === null ? confirmCounterPage(scene) : collectPage(scene));
          return sender.send(request, reply, { status: statusOf(place, refused), content });
        };
        scope.get('/:key', async (request, reply) => send(request, reply, await find(keyOf(request)), null));
        scope.post('/:key', async (request, reply) => {
          const place = await find(keyOf(request));
          if (place.closed) return send(request, reply, place, null);
          const answer = await answerForm(place, request);
          if ('refused' in answer) return send(request, reply, place, answer.refused);
          return seeOther(reply, `/pay/${answer.intent.checkoutToken}`);
        });
      },
      { prefix },
    );
  }
};

function statusOf({ closed }: Place, refused: RefusedCollect | null): number {
  if (closed) return 410;
  return refused ? 400 : 200;
}

async function answerForm(
  place: Place,
  request: FastifyRequest,
): Promise<{ intent: Intent } | { refused: RefusedCollect }> {
  const body = (request.body ?? {}) as Record<string, unknown>;
  const amount = textOf(body['amount']);
  const answers = place.scene.customFields.map((_label, index) => textOf(body[`field_${index}`]));
  const typed = readAmount(amount);
  if ('problem' in typed)
    return { refused: { amount, answers, errors: [{ field: 'amount', message: typed.problem }] } };
  try {
    return { intent: await place.pay({ amountMinor: typed.amountMinor, answers }) };
  } catch (error) {
    if (!(error instanceof AppError) || error.statusCode >= 500) throw error;
    const fields = error.fields ?? [];
    const known = place.scene.amountMinor === null || fields.every(({ path }) => path !== 'amount');
    const errors =
      fields.length > 0 && known
        ? fields.map(({ path, message }) => ({ field: path, message }))
        : [{ field: null, message: error.message }];
    return { refused: { amount, answers, errors } };
  }
}

async function findLinkPlace(context: CollectContext, token: string): Promise<Place> {
  const found = await findLinkByToken(context.db, context.merchants, token);
  if (!found) throw new AppError('not_found', 'There is no such payment link.');
  const { merchant, link } = found;
  return {
    scene: {
      ...sceneOf(merchant, `/link/${link.token}`),
      kind: 'link',
      heading: link.title,
      description: link.description,
      amountMinor: link.amountMinor,
      minAmountMinor: link.minAmountMinor,
      customFields: link.customFields,
    },
    closed: closedLink(merchant, link),
    unconfirmed: false,
    pay: ({ amountMinor, answers }) =>
      context.db.withTransaction((tx) =>
        payLink(tx, context, merchant, link, {
          amountMinor,
          customFieldsValues: Object.fromEntries(
            link.customFields.map((label, index) => [label, answers[index] ?? '']),
          ),
        }),
      ),
  };
}

function closedLink({ name: merchantName }: Merchant, link: PaymentLink): PageContent | null {
  switch (linkState(link)) {
    case 'active':
      return null;
    case 'inactive':
      return closedPage({
        title: 'This link is not active',
        text: 'it cannot be paid at the moment. Nothing was paid here. Ask the shop whether it will open again.',
        merchantName,
        icon: 'clock',
      });
    case 'deleted':
      return closedPage({
        title: 'This link was deleted',
        text: 'it can no longer be paid. Nothing was paid here. Ask the shop for a new link.',
        merchantName,
        icon: 'cross',
      });
  }
}

async function findCounterPlace(context: CollectContext, address: string): Promise<Place> {
  const found = await findTerminalByAddress(context.db, context.settings.terminalKey, address);
  const merchant = found && (await context.merchants.byId(found.terminal.merchantId));
  if (!found || !merchant) throw new AppError('not_found', 'There is no such counter.');
  const { terminal, confirmed } = found;
  return {
    scene: {
      ...sceneOf(merchant, `/pos/${address.toUpperCase()}`),
      kind: 'counter',
      heading: terminal.name,
      description: null,
      amountMinor: null,
      minAmountMinor: null,
      customFields: [],
    },
    closed: closedCounter(merchant, terminal),
    unconfirmed: !confirmed,
    pay: ({ amountMinor }) =>
      context.db.withTransaction((tx) => payAtTerminal(tx, context, merchant, terminal, { amountMinor })),
  };
}

function closedCounter({ name: merchantName }: Merchant, terminal: VirtualTerminal): PageContent | null {
  if (terminal.deletedAt === null && terminal.active) return null;
  const text =
    terminal.deletedAt === null
      ? 'this counter takes no payments at the moment. Nothing was paid here. Ask the staff.'
      : 'this counter no longer exists. Nothing was paid here. Ask the staff for another one.';
  return closedPage({ title: 'This counter is closed', text, merchantName, icon: 'clock' });
}

function sceneOf({ name: merchantName, testMode }: Merchant, path: string) {
  return { merchantName, testMode, path };
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
