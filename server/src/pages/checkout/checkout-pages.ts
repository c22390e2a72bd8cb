import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify';
import type { ChangeFeed } from '../../kit/changes.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Log } from '../../kit/log.ts';
import type { CheckoutView } from '../../payments/checkout-view.ts';
import type { Checkout } from '../../payments/checkout.ts';
import { createPageSender } from '../document.ts';
import { createFormGuard } from '../form-guard.ts';
import { loadScript, loadStyle } from '../inline-asset.ts';
import { preparePageScope, seeOther } from '../page-scope.ts';
import { cancelPage } from './cancel-page.ts';
import { checkChoice, checkCode, readChoice, readCode } from './forms.ts';
import { createResponder, pathOf } from './responder.ts';
import type { Responder, TokenRequest } from './responder.ts';
import { registerStatusRoute } from './status-route.ts';
import { canCancel, stepOf } from './step.ts';

export interface CheckoutPagesOptions {
  checkout: Checkout;
  changes: ChangeFeed;
  clock: Clock;
  log: Log;
  /** Where browsers reach the service; a function, because a port is known only once it listens. */
  publicUrl: () => string;
  /** For the forms' proofs; the same in every process. */
  formKey: string | Uint8Array;
  /** Where a tester plays the payer's phone; the page shows it in test mode while it waits for the payer. */
  simulatedPhoneUrl?: (view: CheckoutView) => string | null;
  /** Open streams of states in this process, 500 unless told otherwise. */
  streamsMax?: number;
}

const style = loadStyle(
  new URL('../style.css', import.meta.url),
  new URL('../controls.css', import.meta.url),
  new URL('checkout.css', import.meta.url),
);
const script = loadScript(new URL('live.js', import.meta.url));

/** The hosted payment page at `/pay/:token`. Every form works without scripts; with them the page keeps itself true. */
export const checkoutPages: FastifyPluginAsync<CheckoutPagesOptions> = async (app, options) => {
  const { checkout, clock, log, publicUrl } = options;
  const guard = createFormGuard({ publicUrl, key: options.formKey });
  const sender = createPageSender({ publicUrl, style, script });
  const simulatedPhoneUrl = options.simulatedPhoneUrl ?? (() => null);
  const responder = createResponder({ checkout, clock, log, sender, guard, simulatedPhoneUrl });
  await app.register(
    async (scope) => {
      await preparePageScope(scope, { sender, guard, log, homeOf });
      addPages(scope, responder);
      addForms(scope, responder, checkout);
      registerStatusRoute(scope, options);
    },
    { prefix: '/pay' },
  );
};

function addPages(scope: FastifyInstance, responder: Responder): void {
  scope.get('/:token', async (request: TokenRequest, reply) => {
    const model = responder.modelOf(request, await responder.find(request));
    const justConfirmed = (request.query as { confirmed?: unknown }).confirmed === '1';
    return responder.sendCheckout(request, reply, { ...model, justConfirmed });
  });

  scope.get('/:token/cancel', async (request: TokenRequest, reply) => {
    const view = await responder.find(request);
    if (!canCancel(stepOf(view))) return seeOther(reply, pathOf(request));
    return responder.sendPage(request, reply, cancelPage(responder.modelOf(request, view)));
  });

  // Where a refused form leaves the browser; whoever loads that address by hand gets the page.
  for (const form of ['code', 'confirm']) {
    scope.get(`/:token/${form}`, async (request: TokenRequest, reply) => seeOther(reply, pathOf(request)));
  }
}

function addForms(scope: FastifyInstance, responder: Responder, checkout: Checkout): void {
  scope.post('/:token', async (request: TokenRequest, reply) => {
    const view = await responder.find(request);
    const choice = readChoice(request.body, view);
    return responder.handleForm(request, reply, {
      view,
      sent: { network: choice.network, accountNumber: choice.accountNumber ?? '' },
      refused: checkChoice(choice, view),
      submit: () => checkout.pay(request.params.token, choice, { requestId: request.id }),
    });
  });

  scope.post('/:token/code', async (request: TokenRequest, reply) => {
    const view = await responder.find(request);
    const code = readCode(request.body);
    return responder.handleForm(request, reply, {
      view,
      refused: checkCode(code, view),
      submit: () => checkout.proceed(request.params.token, code),
    });
  });

  scope.post('/:token/confirm', async (request: TokenRequest, reply) =>
    responder.handleForm(request, reply, {
      view: await responder.find(request),
      refused: null,
      submit: () => checkout.proceed(request.params.token, null),
      landing: '?confirmed=1',
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

/** Null for an address that holds no token. */
function homeOf(request: FastifyRequest): string | null {
  return (request as TokenRequest).params.token === undefined ? null : pathOf(request as TokenRequest);
}
