import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../kit/app-error.ts';
import type { Log } from '../../kit/log.ts';
import { parseInternationalNumber, PhoneNumberError } from '../../kit/phone-number.ts';
import type { PhoneAction } from '../../networks/simulator/moves.ts';
import type { Prompt } from '../../networks/simulator/prompt.ts';
import type { Simulator } from '../../networks/simulator/simulator.ts';
import { createPageSender } from '../document.ts';
import { createFormGuard } from '../form-guard.ts';
import { loadScript, loadStyle } from '../inline-asset.ts';
import { preparePageScope, seeOther } from '../page-scope.ts';
import { askNumberPage } from './ask-number-page.ts';
import { phoneMain, phonePage } from './phone-page.ts';
import { wavePage } from './wave-page.ts';

export interface PhonePagesOptions {
  simulator: Pick<Simulator, 'listPrompts' | 'findPrompt' | 'act'>;
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

type PhoneRequest = FastifyRequest<{ Params: { number?: string }; Querystring: { number?: string; key?: string } }>;
type WaveRequest = FastifyRequest<{ Params: { sessionId: string } }>;

const style = loadStyle(new URL('../style.css', import.meta.url), new URL('phone.css', import.meta.url));
const script = loadScript(new URL('phone.js', import.meta.url));

/**
 * The other side of the test environment: `/simulator/phone/{number}`, the phone on which payers approve, and
 * `/simulator/wave/{session}`, where Wave's launch link leads.
 */
export const phonePages: FastifyPluginAsync<PhonePagesOptions> = async (app, options) => {
  const { simulator } = options;
  const guard = createFormGuard({ publicUrl: options.publicUrl, key: options.formKey });
  const sender = createPageSender({ publicUrl: options.publicUrl, style, script });

  await app.register(
    async (scope) => {
      await preparePageScope(scope, { sender, guard, log: options.log, homeOf: phonePath });

      scope.get('/', async (request: PhoneRequest, reply) => {
        await authorize(request);
        const { number, key } = request.query;
        if (number === undefined) return ask(request, reply, null);
        // Written as on the wire: a plus and spaces would not survive in a path.
        return seeOther(reply, withKey(`/simulator/phone/${encodeURIComponent(number.trim())}`, key));
      });

      scope.get('/:number', async (request: PhoneRequest, reply) => {
        const prompts = await readPrompts(request);
        if (prompts === null) return ask(request, reply, request.params.number ?? '');
        const path = phonePath(request);
        const phone = {
          number: request.params.number ?? '',
          prompts,
          path,
          otherNumberPath: withKey('/simulator/phone', request.query.key),
          formProof: guard.field(path),
        };
        if (request.headers['x-page-part'] === 'main') return sender.sendPart(request, reply, phoneMain(phone));
        return sender.send(request, reply, { status: 200, content: phonePage(phone) });
      });

      scope.post('/:number', async (request: PhoneRequest, reply) => {
        const { account } = await authorize(request);
        const { sessionId, action } = readTap(request.body);
        const prompt = await simulator.findPrompt(sessionId);
        const isShown =
          prompt !== undefined &&
          (account === null || prompt.account === account) &&
          prompt.payerNumber === canonicalNumber(request.params.number ?? '');
        if (!isShown) throw noSuchPrompt();
        await simulator.act(sessionId, action);
        return seeOther(reply, phonePath(request));
      });
    },
    { prefix: '/simulator/phone' },
  );

  await app.register(
    async (scope) => {
      await preparePageScope(scope, { sender, guard, log: options.log, homeOf: wavePath });

      scope.get('/:sessionId', async (request: WaveRequest, reply) => {
        const prompt = await launched(request);
        const path = wavePath(request);
        return sender.send(request, reply, {
          status: 200,
          content: wavePage({ prompt, path, formProof: guard.field(path) }),
        });
      });

      scope.post('/:sessionId', async (request: WaveRequest, reply) => {
        await launched(request);
        await simulator.act(request.params.sessionId, readTap(request.body).action);
        return seeOther(reply, wavePath(request));
      });
    },
    { prefix: '/simulator/wave' },
  );

  async function authorize(request: FastifyRequest): Promise<PhoneAccess> {
    const access = await options.phoneAccess(request);
    if (!access.allowed) throw new AppError('not_found', 'There is no simulated phone here.');
    return access;
  }

  /** Null where the address does not hold a number. */
  async function readPrompts(request: PhoneRequest): Promise<Prompt[] | null> {
    const { account } = await authorize(request);
    const number = request.params.number ?? '';
    if (canonicalNumber(number) === null) return null;
    return simulator.listPrompts({ number, ...(account === null ? {} : { account }) });
  }

  /** Whoever has the launch link may use it, as with the real one: its id cannot be guessed. */
  async function launched(request: WaveRequest): Promise<Prompt> {
    const prompt = await simulator.findPrompt(request.params.sessionId);
    if (prompt === undefined || prompt.network !== 'wave' || prompt.shape !== 'redirect') throw noSuchPrompt();
    return prompt;
  }

  function ask(request: PhoneRequest, reply: FastifyReply, refusedNumber: string | null): Promise<FastifyReply> {
    return sender.send(request, reply, {
      status: refusedNumber === null ? 200 : 400,
      content: askNumberPage({ refusedNumber, key: request.query.key ?? null }),
    });
  }
};

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

const actions: readonly PhoneAction[] = ['approve', 'decline', 'approve_late', 'reverse'];

function readTap(body: unknown): { sessionId: string; action: PhoneAction } {
  const fields = (body ?? {}) as Record<string, unknown>;
  const action = actions.find((candidate) => candidate === fields['action']);
  if (action === undefined) throw new AppError('invalid_request', 'Tap one of the buttons of the phone.');
  return { action, sessionId: typeof fields['session'] === 'string' ? fields['session'] : '' };
}

function phonePath(request: FastifyRequest): string {
  const { params, query } = request as PhoneRequest;
  const number = params.number === undefined ? '' : `/${encodeURIComponent(params.number)}`;
  return withKey(`/simulator/phone${number}`, query.key);
}

function wavePath(request: FastifyRequest): string {
  return `/simulator/wave/${encodeURIComponent((request as WaveRequest).params.sessionId ?? '')}`;
}

/** On a production server the key is what makes the phone's address unguessable. */
function withKey(path: string, key: string | undefined): string {
  return typeof key === 'string' && key !== '' ? `${path}?key=${encodeURIComponent(key)}` : path;
}
