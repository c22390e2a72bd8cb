import type { Static } from 'typebox';
import { endpointWithHealthSchema } from '../../webhooks/wire-schemas.ts';
import { cleanText } from '../../pages/page-text.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import type { StateMark } from '../../portal/patterns/texts.ts';
import type { Visit } from '../visit.ts';

export type ShownEndpoint = Static<typeof endpointWithHealthSchema>;

/** Throws AppError `not_found`. */
export function loadEndpoint({ api }: Visit, { params }: PageInput): Promise<ShownEndpoint> {
  return api.call('retrieveWebhookEndpoint', endpointWithHealthSchema, { params: { id: params['id'] ?? '' } });
}

/** An endpoint's health in words. */
export function endpointState({ url, status, disabled_reason: reason, health }: ShownEndpoint): StateMark {
  if (url === null) return { tone: 'calm', icon: 'cross', text: 'No address' };
  if (status === 'disabled') {
    if (reason === 'failing') return { tone: 'bad', icon: 'warning', text: 'Off: failed for five days' };
    if (reason === 'gone') return { tone: 'bad', icon: 'warning', text: 'Off: it responded 410 Gone' };
    return { tone: 'calm', icon: 'clock', text: 'Paused' };
  }
  if (health.failing_since !== null) return { tone: 'bad', icon: 'warning', text: 'Failing' };
  if (health.last_success_at === null) return { tone: 'wait', icon: 'clock', text: 'Nothing sent yet' };
  return { tone: 'good', icon: 'check', text: 'Delivers' };
}

/** Whether events are sent to it. */
export function isOn({ url, status }: ShownEndpoint): boolean {
  return url !== null && status === 'enabled';
}

/** The address without what everybody knows: `shop.gm/hooks`. */
export function endpointName({ url }: Pick<ShownEndpoint, 'url'>): string {
  return url === null ? 'Callback addresses of payments' : cleanText(url.replace(/^https?:\/\//, ''));
}

const failureTexts = new Map([
  ['timeout', 'no response in time'],
  ['connect_timeout', 'no connection in time'],
  ['refused', 'the connection was refused'],
  ['unreachable', 'the address cannot be reached'],
  ['reset', 'the connection broke off'],
  ['malformed_answer', 'the response was not HTTP, or too large'],
  ['tls', 'its certificate is not valid'],
  ['dns', 'its name was not found'],
  ['blocked', 'its name leads to a private address'],
  ['other', 'no connection'],
]);

/** Why a try failed: the status of its response, or why there was none. */
export function failureText(failure: string | null): string {
  if (failure === null) return '';
  return failureTexts.get(failure) ?? `status ${failure}`;
}
