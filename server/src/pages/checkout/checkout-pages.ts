import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../kit/app-error.ts';
import type { ChangeFeed } from '../../kit/changes.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Log } from '../../kit/log.ts';
import type { CheckoutView } from '../../payments/checkout-view.ts';
import type { Checkout } from '../../payments/checkout.ts';
import { createPageSender } from '../document.ts';
import type { PageContent } from '../document.ts';
import { createFormGuard } from '../form-guard.ts';
import { loadScript, loadStyle } from '../inline-asset.ts';
import { preparePageScope, seeOther } from '../page-scope.ts';
import { cancelPage } from './cancel-page.ts';
import { checkoutMain, checkoutPage } from './checkout-page.ts';
import { checkChoice, checkCode, readChoice, readCode, refusedFormOf } from './forms.ts';
import type { CheckoutScene, RefusedForm } from './scene.ts';
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

type TokenRequest = FastifyRequest<{ Params: { token: string } }>;
type PageRequest = FastifyRequest<{ Params: { token: string }; Querystring: { confirmed?: string } }>;

const style = loadStyle(new URL('../style.css', import.meta.url), new URL('checkout.css', import.meta.url));
const script = loadScript(new URL('live.js', import.meta.url));

/** The hosted payment page at `/pay/:token`. Every form works without scripts; with them the page keeps itself true. */
export const checkoutPages: FastifyPluginAsync<CheckoutPagesOptions> = async (app, options) => {
  await app.register(
    async (scope) => {
      const { checkout } = options;
      const guard = createFormGuard({ publicUrl: options.publicUrl, key: options.formKey });
      const sender = createPageSender({ publicUrl: options.publicUrl, style, script });
      await preparePageScope(scope, { sender, guard, log: options.log, homeOf });

      scope.get('/:token', async (request: PageRequest, reply) => {
        const scene = { ...sceneOf(request, await find(request)), justConfirmed: request.query.confirmed === '1' };
        if (request.headers['x-page-part'] === 'main') return sender.sendPart(request, reply, checkoutMain(scene));
        return send(request, reply, checkoutPage(scene));
      });

      scope.post('/:token', async (request: TokenRequest, reply) => {
        const view = await find(request);
        const choice = readChoice(request.body, view);
        return answer(request, reply, {
          view,
          sent: { network: choice.network, accountNumber: choice.accountNumber ?? '' },
          refused: checkChoice(choice, view),
          act: () => checkout.pay(request.params.token, choice),
        });
      });

      scope.post('/:token/code', async (request: TokenRequest, reply) => {
        const view = await find(request);
        const code = readCode(request.body);
        return answer(request, reply, {
          view,
          refused: checkCode(code, view),
          act: () => checkout.proceed(request.params.token, code),
        });
      });

      scope.post('/:token/confirm', async (request: TokenRequest, reply) => {
        const view = await find(request);
        const act = (): Promise<CheckoutView> => checkout.proceed(request.params.token, null);
        return answer(request, reply, { view, refused: null, act, then: '?confirmed=1' });
      });

      scope.get('/:token/cancel', async (request: TokenRequest, reply) => {
        const view = await find(request);
        if (!canCancel(stepOf(view))) return seeOther(reply, pathOf(request));
        return send(request, reply, cancelPage(sceneOf(request, view)));
      });

      scope.post('/:token/cancel', async (request: TokenRequest, reply) => {
        const view = await find(request);
        return answer(request, reply, { view, refused: null, act: () => checkout.cancel(request.params.token) });
      });

      // Where a refused form leaves the browser; whoever loads that address by hand gets the page.
      for (const form of ['code', 'confirm']) {
        scope.get(`/:token/${form}`, async (request: TokenRequest, reply) => seeOther(reply, pathOf(request)));
      }

      registerStatusRoute(scope, options);

      async function find(request: TokenRequest): Promise<CheckoutView> {
        const view = await checkout.find(request.params.token);
        if (view === undefined) throw new AppError('not_found', 'There is no payment at this address.');
        return view;
      }

      function sceneOf(request: TokenRequest, view: CheckoutView): CheckoutScene {
        const path = pathOf(request);
        return {
          view,
          path,
          now: options.clock.now(),
          formProof: guard.field(path),
          simulatedPhoneUrl: (view.testMode && options.simulatedPhoneUrl?.(view)) || null,
          refusedForm: null,
          justConfirmed: false,
        };
      }

      async function answer(request: TokenRequest, reply: FastifyReply, form: PostedForm): Promise<FastifyReply> {
        const path = pathOf(request);
        let errors = form.refused;
        let status = 400;
        if (errors === null) {
          try {
            await form.act();
            return seeOther(reply, `${path}${form.then ?? ''}`);
          } catch (error) {
            const refused = refusedFormOf(error);
            // The payment has moved on, perhaps by a second press of the button: its page says where it stands.
            if (refused === 'moved on') return seeOther(reply, path);
            ({ errors, status } = refused);
          }
        }
        const sent = form.sent ?? { network: '', accountNumber: '' };
        const scene = { ...sceneOf(request, form.view), refusedForm: { ...sent, errors } };
        return send(request, reply, checkoutPage(scene), status);
      }

      function send(
        request: TokenRequest,
        reply: FastifyReply,
        content: PageContent,
        status = 200,
      ): Promise<FastifyReply> {
        return sender.send(request, reply, { status, content });
      }
    },
    { prefix: '/pay' },
  );
};

interface PostedForm {
  view: CheckoutView;
  /** What stays in the fields after a refusal; never a code. */
  sent?: Pick<RefusedForm, 'network' | 'accountNumber'>;
  /** What the page can see is wrong by itself, before it troubles the network. */
  refused: RefusedForm['errors'] | null;
  act(): Promise<CheckoutView>;
  /** Added to the page's address afterwards. */
  then?: string;
}

/** Null for an address that holds no token. */
function homeOf(request: FastifyRequest): string | null {
  return (request as TokenRequest).params.token === undefined ? null : pathOf(request as TokenRequest);
}

function pathOf(request: TokenRequest): string {
  return `/pay/${encodeURIComponent(request.params.token)}`;
}
