import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../server/src/kit/app-error.ts';
import type { Log } from '../../server/src/kit/log.ts';
import { parseInternationalNumber, PhoneNumberError } from '../../server/src/kit/phone-number.ts';
import type { SimulatedPayouts } from '../payouts/simulated-payouts.ts';
import type { Prompt } from '../prompt.ts';
import type { Simulator } from '../simulator.ts';
import { createPageSender } from '../../server/src/pages/document.ts';
import type { PageSender } from '../../server/src/pages/document.ts';
import { createFormGuard } from '../../server/src/pages/form-guard.ts';
import type { FormGuard } from '../../server/src/pages/form-guard.ts';
import { loadScript, loadStyle } from '../../server/src/pages/inline-asset.ts';
import { preparePageScope, seeOther } from '../../server/src/pages/page-scope.ts';
import { numberFormPage } from './number-form-page.ts';
import { phoneMain, phonePage } from './phone-page.ts';
import type { Phone } from './phone-page.ts';
import { readTap } from './read-tap.ts';
import type { Tap } from './read-tap.ts';
import { wavePage } from './wave-page.ts';

export interface PhonePagesOptions {
  simulator: Pick<Simulator, 'listPrompts' | 'findPrompt' | 'act'> & {
    payouts: Pick<SimulatedPayouts, 'listArrivals' | 'listFloats' | 'setFloat'>;
  };
  log: Log;
  publicUrl: () => string;
  /** For the forms' proofs; the same in every process. */
  formKey: string | Uint8Array;
  /** Who may hold the phone. The pages keep the parameter `key` of their address in every link and form. */
  phoneAccess(request: FastifyRequest): PhoneAccess | Promise<PhoneAccess>;
}

export interface PhoneAccess {
  allowed: boolean;
  /** The short id of the one merchant whose prompts are shown; null for everybody's, in development. */
  account: string | null;
}

type PhoneRequest = FastifyRequest<{ Params: { number?: string }; Querystring: { number?: unknown; key?: unknown } }>;
type LaunchRequest = FastifyRequest<{ Params: { sessionId?: string } }>;

interface PhoneContext extends PhonePagesOptions {
  guard: FormGuard;
  sender: PageSender;
}

const style = loadStyle(
  new URL('../../server/src/pages/style.css', import.meta.url),
  new URL('../../server/src/pages/controls.css', import.meta.url),
  new URL('phone.css', import.meta.url),
);
const script = loadScript(new URL('phone.js', import.meta.url));

/**
 * The other side of the test environment: `/simulator/phone/{number}`, the phone on which payers approve, and
 * `/simulator/wave/{session}`, where Wave's launch link leads.
 */
export const phonePages: FastifyPluginAsync<PhonePagesOptions> = async (app, options) => {
  const { publicUrl, log } = options;
  const guard = createFormGuard({ publicUrl, key: options.formKey });
  const sender = createPageSender({ publicUrl, style, script });
  const context = { ...options, guard, sender };
  await app.register(
    async (scope) => {
      await preparePageScope(scope, { sender, guard, log, homeOf: phonePath });
      addPhone(scope, context);
    },
    { prefix: '/simulator/phone' },
  );
  await app.register(
    async (scope) => {
      await preparePageScope(scope, { sender, guard, log, homeOf: launchPath });
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
    if (typeof number !== 'string') return sendNumberForm(context, request, reply);
    return seeOther(reply, withKey(`/simulator/phone/${encodeURIComponent(number.trim())}`, request));
  });

  scope.get('/:number', async (request: PhoneRequest, reply) => {
    const { account } = await authorize(context, request);
    const number = numberOf(request);
    if (canonicalNumber(number) === null) return sendNumberForm(context, request, reply);
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
    if (request.headers['x-page-part'] === 'main') return sender.sendPart(request, reply, phoneMain(phone));
    return sender.send(request, reply, { status: 200, content: phonePage(phone) });
  });

  scope.post('/:number', async (request: PhoneRequest, reply) => {
    const { account } = await authorize(context, request);
    const number = numberOf(request);
    if (canonicalNumber(number) === null) throw noSuchPrompt();
    const tap = readTap(request.body);
    await (tap.on === 'prompt'
      ? tapPrompt(simulator, tap, { number, account })
      : tapFloat(simulator, tap, { number, account }));
    return seeOther(reply, phonePath(request));
  });
}

/** The phone that is held, and the one merchant whose things it shows; null for everybody's. */
interface PhoneIdentity {
  number: string;
  account: string | null;
}

async function tapPrompt(
  simulator: PhonePagesOptions['simulator'],
  { sessionId, action }: Extract<Tap, { on: 'prompt' }>,
  phone: PhoneIdentity,
): Promise<void> {
  const prompt = await simulator.findPrompt(sessionId);
  const isShown =
    prompt !== undefined &&
    (phone.account === null || prompt.account === phone.account) &&
    prompt.payerNumber === canonicalNumber(phone.number);
  if (!isShown) throw noSuchPrompt();
  await simulator.act(sessionId, action);
}

/** Only what the phone shows can be tapped: a float that has run out at some time. */
async function tapFloat(
  { payouts }: PhonePagesOptions['simulator'],
  { account, network, state }: Extract<Tap, { on: 'float' }>,
  phone: PhoneIdentity,
): Promise<void> {
  const { number } = phone;
  const floats = await payouts.listFloats({ number, ...(phone.account === null ? {} : { account: phone.account }) });
  const isShown = floats.some((float) => float.account === account && float.network === network);
  if (!isShown) throw new AppError('not_found', 'There is no such float on this phone.');
  await payouts.setFloat({ account, network, number }, state);
}

function addLaunch(scope: FastifyInstance, { simulator, sender, guard }: PhoneContext): void {
  /** Whoever has the launch link may use it, as with the real one: its id cannot be guessed. */
  const launched = async (request: LaunchRequest): Promise<Prompt> => {
    const prompt = await simulator.findPrompt(request.params.sessionId ?? '');
    if (prompt === undefined || prompt.network !== 'wave' || prompt.shape !== 'redirect') throw noSuchPrompt();
    return prompt;
  };

  scope.get('/:sessionId', async (request: LaunchRequest, reply) => {
    const prompt = await launched(request);
    const path = launchPath(request);
    const content = wavePage({ prompt, path, formProof: guard.field(path) });
    return sender.send(request, reply, { status: 200, content });
  });

  scope.post('/:sessionId', async (request: LaunchRequest, reply) => {
    const { sessionId } = await launched(request);
    const tap = readTap(request.body);
    if (tap.on === 'prompt') await simulator.act(sessionId, tap.action);
    return seeOther(reply, launchPath(request));
  });
}

async function authorize(context: PhoneContext, request: FastifyRequest): Promise<PhoneAccess> {
  const access = await context.phoneAccess(request);
  if (!access.allowed) throw new AppError('not_found', 'There is no simulated phone here.');
  return access;
}

/** Asks for the number; once more, with what is wrong, where the address holds none that is usable. */
function sendNumberForm(context: PhoneContext, request: PhoneRequest, reply: FastifyReply): Promise<FastifyReply> {
  const refusedNumber = request.params.number ?? null;
  return context.sender.send(request, reply, {
    status: refusedNumber === null ? 200 : 400,
    content: numberFormPage({ refusedNumber, key: keyOf(request) }),
  });
}

function noSuchPrompt(): AppError {
  return new AppError('not_found', 'There is no such payment on this phone.');
}

function canonicalNumber(number: string): string | null {
  try {
    return parseInternationalNumber(number, { strict: false });
  } catch (error) {
    if (error instanceof PhoneNumberError) return null;
    throw error;
  }
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

/** On a production server the key is what makes the phone's address unguessable. */
function withKey(path: string, request: FastifyRequest): string {
  const key = keyOf(request);
  return key === null ? path : `${path}?key=${encodeURIComponent(key)}`;
}
