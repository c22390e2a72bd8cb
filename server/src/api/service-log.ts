import { createLog, type Log, type LogOptions } from '../kit/log.ts';

/**
 * The fields that may be logged. All others are left out, so that a secret or a phone number cannot get into the log as part
 * of an object; adding a field is a decision.
 */
const logged = [
  'request_id',
  'merchant_id',
  'method',
  'route',
  'status',
  'duration_ms',
  'code',
  'internal',
  'network',
  'channel',
  'charge_id',
  'intent_id',
  'case_id',
  'event_id',
  'endpoint_id',
  'delivery_id',
  'kind',
  'queue',
  'attempts',
  'detail',
  'reason',
  'count',
  'repeated',
  'rows',
  'role',
  'port',
];

// They tell requests apart when programs collect the lines of many; a person at a terminal sees one after the other.
const omittedAtTerminal = ['request_id', 'merchant_id'];

const differing = ['request_id'];

/** The log of this service and of the programs beside it. */
export function createServiceLog(options: Omit<LogOptions, 'fields'>): Log {
  return createLog({ ...options, fields: { logged, differing, omittedAtTerminal } });
}
