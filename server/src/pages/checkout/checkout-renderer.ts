import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../kit/clock.ts';
import type { CheckoutView } from '../../payments/checkout-view.ts';
import { createPageSender, type PageSender } from '../document.ts';
import { type FormGuard, type FormGuardOptions, createFormGuard } from '../form-guard.ts';
import { loadScript, loadStyles } from '../inline-asset.ts';
import type { NetworkDetails } from '../logos/network-details.ts';
import { pageAppearance } from '../merchant-appearance.ts';
import { createPageCookies } from '../page-cookies.ts';
import { afterPay } from './after-pay.ts';
import { createAttemptCookie } from './attempt-cookie.ts';
import { checkoutPage } from './checkout-page.ts';
import type { AfterForm, CheckoutPageModel } from './page-model.ts';

export interface CheckoutRendererOptions extends FormGuardOptions {
  clock: Clock;
  networkDetails: NetworkDetails;
  /** The simulated phone of a test payment; the page links to it while it waits for the payer. */
  simulatedPhoneUrl?: (view: CheckoutView) => string | null;
}

/** Renders a payment's page, also in response to the form of a link that has just created it. */
export interface CheckoutRenderer {
  guard: FormGuard;
  sender: PageSender;
  /** `path` is the payment's own, whatever page the request is for. */
  modelOf(request: FastifyRequest, path: string, view: CheckoutView): CheckoutPageModel;
  /** Remembers who typed the number of an attempt, and returns what the page after Pay has to know. */
  afterPay(
    request: FastifyRequest,
    reply: FastifyReply,
    paid: { view: CheckoutView; typedNumber: string | null },
  ): AfterForm;
  /** Remembers who typed the transaction id that is looked for now. */
  afterTyping(request: FastifyRequest, reply: FastifyReply, view: CheckoutView): void;
  send(request: FastifyRequest, reply: FastifyReply, model: CheckoutPageModel): Promise<FastifyReply>;
}

const { style, moreStyles } = loadStyles(
  ['../style.css', '../controls.css', 'checkout.css'].map((file) => new URL(file, import.meta.url)),
  {
    choice: [new URL('../network-fields.css', import.meta.url)],
    waiting: [new URL('waiting.css', import.meta.url)],
    ended: [new URL('../ends.css', import.meta.url), new URL('ended.css', import.meta.url)],
  },
);
export const checkoutScript = loadScript(
  new URL('live.js', import.meta.url),
  new URL('../keep-typed.js', import.meta.url),
  new URL('../likely-network.js', import.meta.url),
);

export function createCheckoutRenderer(options: CheckoutRendererOptions): CheckoutRenderer {
  const { clock, publicUrl, formKey, networkDetails, simulatedPhoneUrl = () => null } = options;
  const guard = createFormGuard(options);
  const sender = createPageSender({ publicUrl, style, moreStyles, script: checkoutScript });
  const attemptCookie = createAttemptCookie(createPageCookies(publicUrl), formKey);
  return {
    guard,
    sender,
    modelOf: (request, path, view) => ({
      view,
      path,
      url: `${publicUrl()}${path}`,
      now: clock.now(),
      language: request.language,
      appearance: pageAppearance({ ...view.appearance, id: view.merchantId }),
      networkDetails,
      formProof: guard.field(path),
      simulatedPhoneUrl: view.testMode ? simulatedPhoneUrl(view) : null,
      refusedForm: null,
      justConfirmed: false,
      hasTyped: (attemptId) => attemptCookie.hasTyped(request, attemptId),
      hasTypedId: (attemptId, id) => attemptCookie.hasTyped(request, typingOf(attemptId, id)),
      correctsId: false,
      opensNetwork: false,
    }),
    afterPay: (request, reply, paid) => afterPay(request, reply, attemptCookie, paid),
    afterTyping(request, reply, { charge }) {
      const id = charge?.typedId?.value;
      if (charge && id) attemptCookie.remember(request, reply, typingOf(charge.id, id));
    },
    send: (request, reply, model) => sender.send(request, reply, { status: 200, content: checkoutPage(model) }),
  };
}

/** Another browser may have typed another id for the same attempt, and each sees its own only. */
function typingOf(attemptId: string, transactionId: string): string {
  return `${attemptId} ${transactionId}`;
}
