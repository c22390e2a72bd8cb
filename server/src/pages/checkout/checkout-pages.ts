import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify';
import type { Log } from '../../kit/log.ts';
import type { Checkout } from '../../payments/checkout.ts';
import { preparePageScope, seeOther } from '../page-scope.ts';
import { cancelPage } from './checkout-page.ts';
import type { CheckoutRenderer } from './checkout-renderer.ts';
import { checkChoice, checkCode, readAttempt, readChoice, readCode, readTransactionId } from './forms.ts';
import { createResponder, pathOf, wantsPart, type Responder, type TokenRequest } from './responder.ts';
import { registerStatusRoute, type StatusRouteOptions } from './status-route.ts';
import { canCancel, stepOf } from './step.ts';

export interface CheckoutPagesOptions extends StatusRouteOptions {
  log: Log;
  publicUrl: () => string;
  renderer: CheckoutRenderer;
}

/** The hosted payment page at `/pay/:token`. Every form works without scripts; with them, the page updates itself. */
export const checkoutPages: FastifyPluginAsync<CheckoutPagesOptions> = async (app, options) => {
  const { checkout, log, publicUrl, renderer } = options;
  const responder = createResponder({ checkout, log, renderer });
  const { sender, guard } = renderer;
  await app.register(
    async (scope) => {
      await preparePageScope(scope, { sender, guard, publicUrl, log, homeOf });
      addPages(scope, responder, { checkout, log });
      addForms(scope, responder, { checkout, renderer });
      registerStatusRoute(scope, options);
    },
    { prefix: '/pay' },
  );
};

interface FormContext {
  checkout: Checkout;
  renderer: CheckoutRenderer;
}

function addPages(
  scope: FastifyInstance,
  responder: Responder,
  { checkout, log }: Pick<CheckoutPagesOptions, 'checkout' | 'log'>,
): void {
  scope.get('/:token', async (request: TokenRequest, reply) => {
    const view = await responder.find(request);
    // A page that cannot be counted is shown all the same.
    if (!wantsPart(request)) {
      await checkout
        .countView(view)
        .catch((error: unknown) => log.warn('a page view was not counted', { error: String(error) }));
    }
    const model = responder.modelOf(request, view);
    const query = request.query as { confirmed?: unknown; open?: unknown; correct?: unknown };
    return responder.sendCheckout(request, reply, {
      ...model,
      justConfirmed: query.confirmed === '1',
      opensNetwork: query.open === '1',
      correctsId: query.correct === '1',
    });
  });

  scope.get('/:token/cancel', async (request: TokenRequest, reply) => {
    const view = await responder.find(request);
    if (!canCancel(stepOf(view))) return seeOther(reply, pathOf(request));
    return responder.sendPage(request, reply, cancelPage(responder.modelOf(request, view)));
  });

  // A refused form leaves the browser at its own URL. Reloading it leads to the page.
  for (const form of ['code', 'transaction-id', 'confirm', 'change']) {
    scope.get(`/:token/${form}`, async (request: TokenRequest, reply) => seeOther(reply, pathOf(request)));
  }
}

function addForms(scope: FastifyInstance, responder: Responder, context: FormContext): void {
  const { checkout, renderer } = context;
  scope.post('/:token', async (request: TokenRequest, reply) => {
    const view = await responder.find(request);
    const choice = readChoice(request.body, view.networks);
    return responder.handleForm(request, reply, {
      view,
      sent: { network: choice.network, accountNumber: choice.accountNumber ?? '' },
      // On a page of an earlier state the use-case refuses it, and the page of the current one follows.
      refused: stepOf(view) === 'choose' ? checkChoice(request.language.t, choice, view.networks) : null,
      submit: () => checkout.pay(request.params.token, choice, { requestId: request.id }),
      done: (next) => renderer.afterPay(request, reply, { view: next, typedNumber: choice.accountNumber }),
    });
  });

  scope.post('/:token/code', async (request: TokenRequest, reply) => {
    const view = await responder.find(request);
    const code = readCode(request.body);
    return responder.handleForm(request, reply, {
      view,
      refused: checkCode(request.language.t, code, view),
      submit: () => checkout.proceed(request.params.token, code),
    });
  });

  scope.post('/:token/transaction-id', async (request: TokenRequest, reply) => {
    const transactionId = readTransactionId(request.body);
    return responder.handleForm(request, reply, {
      view: await responder.find(request),
      sent: { transactionId },
      refused: null,
      submit: () => checkout.submitTransactionId(request.params.token, transactionId),
      done(next) {
        renderer.afterTyping(request, reply, next);
        return {};
      },
    });
  });

  scope.post('/:token/confirm', async (request: TokenRequest, reply) =>
    responder.handleForm(request, reply, {
      view: await responder.find(request),
      refused: null,
      submit: () => checkout.proceed(request.params.token, null),
      done: () => ({ justConfirmed: true }),
    }),
  );

  scope.post('/:token/change', async (request: TokenRequest, reply) =>
    responder.handleForm(request, reply, {
      view: await responder.find(request),
      refused: null,
      submit: () => checkout.abandon(request.params.token, readAttempt(request.body), { requestId: request.id }),
    }),
  );

  scope.post('/:token/cancel', async (request: TokenRequest, reply) =>
    responder.handleForm(request, reply, {
      view: await responder.find(request),
      refused: null,
      submit: () => checkout.cancel(request.params.token, { requestId: request.id }),
    }),
  );
}

/** Null for a URL without a token. */
function homeOf(request: FastifyRequest): string | null {
  return (request as TokenRequest).params.token === undefined ? null : pathOf(request as TokenRequest);
}
