import { sanitizeLine } from '../../server/src/kit/terminal-text.ts';
import type { Output } from '../output.ts';
import type { DeliveryRow, EventRow } from '../api/responses.ts';

/** One line of a list: when, what, about what, and what became of it. */
export function eventLine(output: Output, row: EventRow): string {
  const time = output.colour('dim', row.created_at);
  return `${time}  ${row.event}  ${row.id}  of ${row.object_id}  ${summary(output, row.deliveries)}`;
}

function summary(output: Output, deliveries: readonly DeliveryRow[]): string {
  if (deliveries.length === 0) return output.colour('dim', 'sent to nobody');
  const counts = Map.groupBy(deliveries, ({ status }) => status);
  return [...counts].map(([status, { length }]) => `${length} ${statusText(output, status)}`).join(', ');
}

function statusText(output: Output, status: DeliveryRow['status']): string {
  if (status === 'delivered') return output.colour('green', status);
  return output.colour(status === 'failed' ? 'red' : 'yellow', status);
}

/** An event with its deliveries and every try of them. */
export function eventText(output: Output, row: EventRow): string {
  const head = [
    `${output.colour('bold', row.event)}  ${row.id}`,
    `  happened  ${row.created_at}${row.test_mode ? ', in test' : ''}`,
    `  object    ${row.object_id}, sequence ${row.sequence}`,
  ];
  const lines = row.deliveries.flatMap((delivery) => deliveryLines(output, delivery));
  return [...head, ...(lines.length > 0 ? lines : ['  It was sent to nobody.'])].join('\n');
}

function deliveryLines(output: Output, delivery: DeliveryRow): string[] {
  const { callback_url: callbackUrl, endpoint_id: endpointId, next_attempt_at: next } = delivery;
  const target = callbackUrl === null ? `endpoint ${endpointId}` : `callback ${sanitizeLine(callbackUrl)}`;
  const nextAttempt = next === null ? '' : `, next try ${next}`;
  const tries = (delivery.tries ?? []).map((entry) => {
    const response = sanitizeLine(entry.answer).slice(0, 100);
    const outcome = entry.status === null ? (entry.failure ?? 'no answer') : String(entry.status);
    return `    ${entry.attempt}  ${entry.sent_at}  ${outcome} in ${entry.duration_ms} ms  ${response}`.trimEnd();
  });
  return [`  ${target}: ${statusText(output, delivery.status)}${nextAttempt}`, ...tries];
}
