import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../server/src/kit/clock.ts';
import type { Log } from '../../server/src/kit/log.ts';
import type { SimulatedNetwork } from '../network.ts';
import type { Simulator } from '../simulator.ts';
import type { UnansweredRequests } from '../unanswered-requests.ts';

export interface WaveRoutesOptions {
  simulator: Simulator;
  clock: Clock;
  /** The credentials of the merchant accounts are derived from it. */
  bearerSecret: string;
  /** The base URL of the pages behind launch links, without a trailing slash. */
  publicUrl: () => string;
  /** Where webhooks go; a real one is registered in Wave's portal. */
  webhookUrl: () => string;
  /** How long a session can be paid. Wave decides it. */
  approvalWindowMs: number;
  /** The name with which the business of an account signed up. */
  businessNameOf: (account: string) => Promise<string>;
  log: Log;
}

/** What the routes share. */
export interface WaveRoutesContext extends WaveRoutesOptions {
  network: SimulatedNetwork;
  unanswered: UnansweredRequests;
  /** The account that a request proves, and its body. Throws WaveError. */
  read(req: FastifyRequest): { account: string; body: unknown };
}
