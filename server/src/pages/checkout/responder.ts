import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../api/app-error.ts';
import type { Log } from '../../kit/log.ts';
import { logRefusal } from '../../api/log-refusal.ts';
import type { Translate } from '../../languages/languages.ts';
import type { CheckoutView } from '../../payments/checkout-view.ts';
import type { Checkout } from '../../payments/checkout.ts';
import type { PageContent } from '../document.ts';
import { queryAfter } from './after-pay.ts';
import { seeOther } from '../page-scope.ts';
import { checkoutPage, checkoutPart } from './checkout-page.ts';
import type { CheckoutRenderer } from './checkout-renderer.ts';
import { refusedFormOf } from './forms.ts';
import type { AfterForm, CheckoutPageModel, RefusedForm } from './page-model.ts';

export type TokenRequest = FastifyRequest<{ Params: { token: string } }>;

export type Responder = ReturnType<typeof createResponder>;

interface PostedForm {
  view: CheckoutView;
  /** The values that stay in the fields after a refusal; never a code. */
  sent?: Partial<Omit<RefusedForm, 'errors'>>;
  /** Errors that the page finds itself, before the use-case runs. */
  refused: RefusedForm['errors'] | null;
  submit(): Promise<CheckoutView>;
  done?(view: CheckoutView): AfterForm;
}

interface ResponderOptions {
  checkout: Checkout;
  log: Log;
  renderer: CheckoutRenderer;
}

/** Shared by the checkout's routes: finds the payment, renders its page, handles its forms. */
export function createResponder({ checkout, log, renderer }: ResponderOptions) {
  const { sender } = renderer;
  const modelOf = (request: TokenRequest, view: CheckoutView): CheckoutPageModel =>
    renderer.modelOf(request, pathOf(request), view);
  const sendPage = (request: TokenRequest, reply: FastifyReply, content: PageContent, status = 200) =>
    sender.send(request, reply, { status, content });
  /** The page, or only its main part if the page's script requests it. */
  const sendCheckout = (request: TokenRequest, reply: FastifyReply, model: CheckoutPageModel, status = 200) =>
    wantsPart(request)
      ? sender.sendPart(request, reply, checkoutPart(model))
      : sendPage(request, reply, checkoutPage(model), status);
  /** Throws AppError `not_found` for an unknown token. */
  const find = async (request: TokenRequest): Promise<CheckoutView> => {
    const view = await checkout.find(request.params.token);
    if (view === undefined) throw new AppError('not_found', 'There is no payment at this address.');
    return view;
  };
  return {
    modelOf,
    sendPage,
    find,
    sendCheckout,
    async handleForm(request: TokenRequest, reply: FastifyReply, form: PostedForm): Promise<FastifyReply> {
      const outcome =
        form.refused === null
          ? await attempt(form, request.language.t, (error) => logRefusal(log, request.id, error))
          : { status: 400, errors: form.refused };
      if ('errors' in outcome) {
        const sent = { network: '', accountNumber: '', transactionId: '', ...form.sent };
        // A use-case that refuses may have used up a try. The page has to know it already: its script takes another state for news,
        // and would put the page without the error in its place.
        const view = form.refused === null ? await find(request) : form.view;
        const model = { ...modelOf(request, view), refusedForm: { ...sent, errors: outcome.errors } };
        return sendCheckout(request, reply, model, outcome.status);
      }
      // For example a second press of the button: the page shows the current state.
      const view = 'view' in outcome ? outcome.view : await find(request);
      const after = 'view' in outcome ? (form.done?.(view) ?? {}) : {};
      if (!wantsPart(request)) return seeOther(reply, `${pathOf(request)}${queryAfter(after)}`);
      return sendCheckout(request, reply, { ...modelOf(request, view), ...after });
    },
  };
}

async function attempt(
  form: PostedForm,
  t: Translate,
  onRefusal: (error: AppError) => void,
): Promise<{ view: CheckoutView } | ReturnType<typeof refusedFormOf>> {
  try {
    return { view: await form.submit() };
  } catch (error) {
    const outcome = refusedFormOf(t, error);
    if (error instanceof AppError) onRefusal(error);
    return outcome;
  }
}

/** The page's script takes the next state as the response itself, without the round trip of a redirect. */
export function wantsPart(request: TokenRequest): boolean {
  return request.headers['x-page-part'] === 'main';
}

export function pathOf(request: TokenRequest): string {
  return `/pay/${encodeURIComponent(request.params.token)}`;
}
