import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { addMs, type Clock } from '../../server/src/kit/clock.ts';
import type { Log } from '../../server/src/kit/log.ts';
import { parseStrictJsonBytes, StrictJsonError } from '../../server/src/kit/strict-json.ts';
import { hidden } from '../route-options.ts';
import { simulatedNetworks } from '../network.ts';
import { codeLength, type Session } from '../session.ts';
import type { Simulator } from '../simulator.ts';
import type { UnansweredRequests } from '../unanswered-requests.ts';
import { checkModuleOf, PayinRefusal, readBusiness, readCompletion, readPayin } from './payin-request.ts';
import { failedReason, report } from './report.ts';

export interface PayinRoutesOptions {
  simulator: Simulator;
  bearerSecret: string;
  clock: Clock;
  log: Log;
  /** How long a payer may take: the API has no way to say it. */
  approvalWindowMs: number;
  unanswered: UnansweredRequests;
}

const bodyBytesMax = 16 * 1024;

/** The collection API of 54Pay (docs/networks.md). It responds to everything with 200, and says in words what is wrong. */
export function payinRoutes(options: PayinRoutesOptions): FastifyPluginAsync {
  return async (server) => {
    parseBodies(server);
    handleErrors(server, options.log);
    addPayin(server, options);
    addCompletion(server, options);

    server.get<{ Querystring: { transactionReference?: unknown } }>('/status', hidden, async (req) => {
      const account = readBusiness(req.headers, options);
      const session = await findSession(options.simulator, account, req.query.transactionReference);
      if (!session) throw notFound();
      return report(session, session.status);
    });
  };
}

function addPayin(server: FastifyInstance, options: PayinRoutesOptions): void {
  const { simulator, clock, approvalWindowMs, unanswered } = options;
  server.post('/payin', hidden, async (req, reply) => {
    const account = readBusiness(req.headers, options);
    const request = readPayin(account, req.headers, req.body);
    let isNew = false;
    const expiresAt = addMs(clock.now(), approvalWindowMs);
    const result = await simulator.start({ ...request, expiresAt }, () => {
      isNew = true;
    });
    switch (result.kind) {
      case 'silent':
        unanswered.keepOpen(reply);
        return reply;
      case 'conflict':
        throw new PayinRefusal('DUPLICATE REFERENCE');
      case 'not_accepted':
        throw new PayinRefusal('OPERATOR UNAVAILABLE');
      case 'session':
        if (!isNew) throw new PayinRefusal('DUPLICATE REFERENCE');
        return payinResponse(result.session);
    }
  });
}

function payinResponse(session: Session): Record<string, unknown> {
  const { reference, status, shape } = session;
  if (status === 'failed') return failure(failedReason(session), reference);
  const requiresCode = shape === 'code';
  return {
    responseDetails: { responseCode: '09', responseMessage: 'PENDING' },
    transactionReference: reference,
    otpIsRequired: requiresCode,
    lengthOfOtp: requiresCode ? codeLength : 0,
    redirectionRequired: false,
  };
}

function addCompletion(server: FastifyInstance, options: PayinRoutesOptions): void {
  const { simulator } = options;
  server.post('/complete-payin', hidden, async (req) => {
    const account = readBusiness(req.headers, options);
    const { reference, code } = readCompletion(req.body);
    const session = await findSession(simulator, account, reference);
    if (!session) throw notFound();
    checkModuleOf(req.headers, session);
    const address = { account, network: session.network, sessionId: session.id };
    const after = code === null ? await simulator.confirm(address) : await simulator.enterCode(address, code);
    return completionResponse(after ?? session, { isWrongCode: code !== null });
  });
}

function completionResponse(session: Session, { isWrongCode }: { isWrongCode: boolean }): Record<string, unknown> {
  const { reference: transactionReference, status } = session;
  if (status === 'open' && isWrongCode) return failure('INVALID OTP', transactionReference);
  if (status === 'failed') return failure(failedReason(session), transactionReference);
  const isPaid = status === 'complete';
  const responseDetails = isPaid
    ? { responseCode: '00', responseMessage: 'SUCCESSFUL' }
    : { responseCode: '09', responseMessage: 'PENDING' };
  return { responseDetails, transactionReference };
}

/** The provider's reference is one for all its operators. */
async function findSession(simulator: Simulator, account: string, reference: unknown): Promise<Session | undefined> {
  if (typeof reference !== 'string' || !/^[0-9A-Za-z_-]{1,100}$/.test(reference)) return undefined;
  const served = simulatedNetworks.filter(({ wires }) => wires.collections === '54pay');
  const found = await Promise.all(
    served.map(({ id: network }) => simulator.findByReference({ account, network, reference })),
  );
  return found.find((session) => session !== undefined);
}

function notFound(): PayinRefusal {
  return new PayinRefusal('TRANSACTION NOT FOUND');
}

function failure(reason: string, transactionReference?: string): Record<string, unknown> {
  return {
    responseDetails: { responseCode: '06', responseMessage: 'FAILED', failedReason: reason },
    ...(transactionReference === undefined ? {} : { transactionReference }),
  };
}

function parseBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  const parsing = { parseAs: 'buffer', bodyLimit: bodyBytesMax } as const;
  server.addContentTypeParser('application/json', parsing, (_req, body: Buffer, done) => {
    try {
      done(null, parseStrictJsonBytes(body));
    } catch (error) {
      done(error instanceof StrictJsonError ? new PayinRefusal('INVALID REQUEST') : (error as Error));
    }
  });
}

function handleErrors(server: FastifyInstance, log: Log): void {
  server.setErrorHandler((error: unknown, _req: FastifyRequest, reply: FastifyReply) => {
    if (error instanceof PayinRefusal) return reply.code(200).send(failure(error.message));
    const { statusCode } = error as { statusCode?: unknown };
    const status = typeof statusCode === 'number' && statusCode >= 400 ? statusCode : 500;
    if (status >= 500) log.error('a simulated network failed', error);
    return reply.code(status).send(failure('INVALID REQUEST'));
  });
}
