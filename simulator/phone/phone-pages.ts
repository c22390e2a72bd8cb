import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { textOf } from '../../server/src/kit/untyped.ts';
import { AppError } from '../../server/src/api/app-error.ts';
import type { Log } from '../../server/src/kit/log.ts';
import { numberOrNull, parseInternationalNumber } from '../../server/src/kit/phone-number.ts';
import type { PhoneFloat } from '../payouts/arrival.ts';
import type { SimulatedPayouts } from '../payouts/simulated-payouts.ts';
import type { Prompt } from '../prompt.ts';
import type { Simulator } from '../simulator.ts';
import type { PhoneAction } from '../transitions.ts';
import { createPageSender, type PageSender } from '../../server/src/pages/document.ts';
import { type FormGuard, type FormGuardOptions, createFormGuard } from '../../server/src/pages/form-guard.ts';
import { commonStyles, loadScript, loadStyle } from '../../server/src/pages/inline-asset.ts';
import { preparePageScope, seeOther } from '../../server/src/pages/page-scope.ts';
import { numberFormPage, phoneMain, phonePage, type Phone } from './phone-page.ts';
import { sessionIdOf } from '../wave/wire-session.ts';
import { wavePage } from './wave-page.ts';

export interface PhonePagesOptions extends FormGuardOptions {
  simulator: Pick<Simulator, 'listPrompts' | 'findPrompt' | 'act' | 'enterCode'> & {
    payouts: Pick<SimulatedPayouts, 'listArrivals' | 'listFloats' | 'setFloat'>;
  };
  log: Log;
  /** Who may open the phone. Every link and form keeps the query parameter `key`. */
  phoneAccess(request: FastifyRequest): PhoneAccess | Promise<PhoneAccess>;
}

export interface PhoneAccess {
  allowed: boolean;
  /** The short id of the merchant whose prompts are shown; null for all merchants, in development. */
  account: string | null;
}

type PhoneRequest = FastifyRequest<{ Params: { number?: string }; Querystring: { number?: unknown; key?: unknown } }>;
type LaunchRequest = FastifyRequest<{ Params: { sessionId?: string } }>;

interface PhoneContext extends PhonePagesOptions {
  guard: FormGuard;
  sender: PageSender;
}

const style = loadStyle(...commonStyles, new URL('phone.css', import.meta.url));
const script = loadScript(new URL('phone.js', import.meta.url));

/**
 * The payer's side of the test environment: `/simulator/phone/{number}`, the phone on which payers approve, and
 * `/simulator/wave/{session}`, the target of Wave's launch link.
 */
export const phonePages: FastifyPluginAsync<PhonePagesOptions> = async (app, options) => {
  const { publicUrl, log } = options;
  const guard = createFormGuard(options);
  const sender = createPageSender({ publicUrl, style, script });
  const context = { ...options, guard, sender };
  await app.register(
    async (scope) => {
      await preparePageScope(scope, { sender, guard, publicUrl, log, homeOf: phonePath });
      addPhone(scope, context);
    },
    { prefix: '/simulator/phone' },
  );
  await app.register(
    async (scope) => {
      await preparePageScope(scope, { sender, guard, publicUrl, log, homeOf: launchPath });
      addLaunch(scope, context);
    },
    { prefix: '/simulator/wave' },
  );
};

function addPhone(scope: FastifyInstance, context: PhoneContext): void {
  const { simulator, sender } = context;

  scope.get('/', async (request: PhoneRequest, reply) => {
    await authorize(context, request);
    const { number } = request.query;
    if (typeof number !== 'string') return sendNumberForm(sender, request, reply);
    return seeOther(reply, withKey(`/simulator/phone/${encodeURIComponent(number.trim())}`, request));
  });

  scope.get('/:number', async (request: PhoneRequest, reply) => {
    const { account } = await authorize(context, request);
    const number = numberOf(request);
    if (canonicalNumber(number) === null) return sendNumberForm(sender, request, reply);
    const query = { number, ...(account === null ? {} : { account }) };
    const [prompts, arrivals, floats] = await Promise.all([
      simulator.listPrompts(query),
      simulator.payouts.listArrivals(query),
      simulator.payouts.listFloats(query),
    ]);
    const path = phonePath(request);
    const otherNumberPath = withKey('/simulator/phone', request);
    const formProof = context.guard.field(path);
    const phone: Phone = { number, prompts, arrivals, floats, path, otherNumberPath, formProof };
    const content = phonePage(phone);
    if (request.headers['x-page-part'] !== 'main') return sender.send(request, reply, { status: 200, content });
    return sender.sendPart(request, reply, { ...content, body: phoneMain(phone) });
  });

  scope.post('/:number', async (request: PhoneRequest, reply) => {
    const { account } = await authorize(context, request);
    const number = numberOf(request);
    if (canonicalNumber(number) === null) throw promptNotFound();
    const tap = readTap(request.body);
    await (tap.on === 'prompt'
      ? tapPrompt(simulator, tap, { number, account })
      : tapFloat(simulator, tap, { number, account }));
    return seeOther(reply, phonePath(request));
  });
}

/** The phone's number, and the merchant whose records it shows; null for all merchants. */
interface PhoneIdentity {
  number: string;
  account: string | null;
}

async function tapPrompt(
  simulator: PhonePagesOptions['simulator'],
  { sessionId, action, code }: Extract<Tap, { on: 'prompt' }>,
  phone: PhoneIdentity,
): Promise<void> {
  const prompt = await simulator.findPrompt(sessionId);
  const isShown =
    prompt !== undefined &&
    (phone.account === null || prompt.account === phone.account) &&
    prompt.payerNumber === canonicalNumber(phone.number);
  if (!isShown) throw promptNotFound();
  await simulator.act(sessionId, action, code);
}

/** Only a float that the phone shows can be tapped: one that has been empty before. */
async function tapFloat(
  { payouts }: PhonePagesOptions['simulator'],
  { account, network, state }: Extract<Tap, { on: 'float' }>,
  phone: PhoneIdentity,
): Promise<void> {
  const { number } = phone;
  const floats = await payouts.listFloats({ number, ...(phone.account === null ? {} : { account: phone.account }) });
  const isShown = floats.some((float) => float.account === account && float.network === network);
  if (!isShown) throw new AppError('not_found', 'Float not found on this phone.');
  await payouts.setFloat({ account, network, number }, state);
}

function addLaunch(scope: FastifyInstance, { simulator, sender, guard }: PhoneContext): void {
  /** The launch link is enough, as with the real one: its id cannot be guessed. */
  const launched = async (request: LaunchRequest): Promise<Prompt> => {
    const prompt = await simulator.findPrompt(sessionIdOf(request.params.sessionId ?? ''));
    if (prompt?.network !== 'wave') throw promptNotFound();
    return prompt;
  };

  scope.get('/:sessionId', async (request: LaunchRequest, reply) => {
    const prompt = await launched(request);
    const path = launchPath(request);
    const content = wavePage({ prompt, path, formProof: guard.field(path) });
    return sender.send(request, reply, { status: 200, content });
  });

  scope.post('/:sessionId', async (request: LaunchRequest, reply) => {
    const { sessionId, account, network } = await launched(request);
    const { action, code } = (request.body ?? {}) as Record<string, unknown>;
    if (action === 'enter_code') {
      await simulator.enterCode({ sessionId, account, network }, typedCode(code));
    } else {
      const tap = readTap(request.body);
      if (tap.on === 'prompt') await simulator.act(sessionId, tap.action);
    }
    return seeOther(reply, launchPath(request));
  });
}

/** A button that was tapped on the simulated phone. */
type Tap =
  | { on: 'prompt'; sessionId: string; action: PhoneAction; code: string }
  | { on: 'float'; account: string; network: string; state: PhoneFloat['state'] };

const promptActions: readonly PhoneAction[] = ['approve', 'decline', 'approve_late', 'reverse'];
const floatActions: ReadonlyMap<unknown, PhoneFloat['state']> = new Map([
  ['fill_float', 'filled'],
  ['empty_float', 'empty'],
]);

/** Throws AppError `invalid_request` for anything that is not a button of the phone. */
function readTap(body: unknown): Tap {
  const fields = (body ?? {}) as Record<string, unknown>;
  const action = promptActions.find((candidate) => candidate === fields['action']);
  if (action !== undefined) {
    return { on: 'prompt', action, sessionId: textOf(fields['session']), code: typedCode(fields['code']) };
  }
  const state = floatActions.get(fields['action']);
  if (state === undefined) throw new AppError('invalid_request', 'Choose one of the buttons on the phone.');
  return { on: 'float', state, account: textOf(fields['account']), network: textOf(fields['network']) };
}

/** As messages write it: 123 456. */
function typedCode(value: unknown): string {
  return textOf(value).replace(/[ -]/g, '');
}

async function authorize(
  options: Pick<PhonePagesOptions, 'phoneAccess'>,
  request: FastifyRequest,
): Promise<PhoneAccess> {
  const access = await options.phoneAccess(request);
  if (!access.allowed) throw new AppError('not_found', 'Simulated phone not found.');
  return access;
}

/** Sends the number form; with an error if the URL has a number that is not valid. */
function sendNumberForm(sender: PageSender, request: PhoneRequest, reply: FastifyReply): Promise<FastifyReply> {
  const refusedNumber = request.params.number ?? null;
  return sender.send(request, reply, {
    status: refusedNumber === null ? 200 : 400,
    content: numberFormPage({ refusedNumber, key: keyOf(request) }),
  });
}

function promptNotFound(): AppError {
  return new AppError('not_found', 'Payment not found on this phone.');
}

function canonicalNumber(number: string): string | null {
  return numberOrNull(() => parseInternationalNumber(number, { strict: false }));
}

function numberOf(request: FastifyRequest): string {
  return (request as PhoneRequest).params.number ?? '';
}

function phonePath(request: FastifyRequest): string {
  return withKey(`/simulator/phone/${encodeURIComponent(numberOf(request))}`, request);
}

function launchPath(request: FastifyRequest): string {
  return `/simulator/wave/${encodeURIComponent((request as LaunchRequest).params.sessionId ?? '')}`;
}

function keyOf(request: FastifyRequest): string | null {
  const { key } = (request as PhoneRequest).query;
  return typeof key === 'string' && key !== '' ? key : null;
}

/** On a production server the key makes the phone's URL unguessable. */
function withKey(path: string, request: FastifyRequest): string {
  const key = keyOf(request);
  return key === null ? path : `${path}?key=${encodeURIComponent(key)}`;
}
