import { eventKinds } from '../../server/src/events/kinds.ts';
import { sanitizeLine } from '../../server/src/kit/terminal-text.ts';
import type { Output } from '../output.ts';
import type { DeliveryRow, EventRow } from '../api/responses.ts';

const kindWidth = Math.max(...eventKinds.map((kind) => kind.length));

/** One line of a list: time, kind, id and deliveries, in columns that hold for every line. `events show` has the rest. */
export function eventLine(output: Output, row: EventRow): string {
  const time = output.colour('dim', row.created_at.slice(0, '2026-11-20T10:18:00'.length));
  return `${time}  ${row.event.padEnd(kindWidth)}  ${row.id}  ${summary(output, row.deliveries)}`;
}

function summary(output: Output, deliveries: readonly DeliveryRow[]): string {
  if (deliveries.length === 0) return output.colour('dim', 'no delivery');
  const counts = Map.groupBy(deliveries, ({ status }) => status);
  return [...counts].map(([status, { length }]) => `${length} ${statusText(output, status)}`).join(', ');
}

function statusText(output: Output, status: DeliveryRow['status']): string {
  if (status === 'delivered') return output.colour('green', status);
  return output.colour(status === 'failed' ? 'red' : 'yellow', status);
}

/** An event with its deliveries and every attempt. */
export function eventText(output: Output, row: EventRow): string {
  const head = [
    `${output.colour('bold', row.event)}  ${row.id}`,
    `  created   ${row.created_at}${row.test_mode ? ', test mode' : ''}`,
    `  object    ${row.object_id}, sequence ${row.sequence}`,
  ];
  const lines = row.deliveries.flatMap((delivery) => deliveryLines(output, delivery));
  return [...head, ...(lines.length > 0 ? lines : ['  No delivery: no endpoint subscribes to it.'])].join('\n');
}

function deliveryLines(output: Output, delivery: DeliveryRow): string[] {
  const { callback_url: callbackUrl, endpoint_id: endpointId, next_attempt_at: next } = delivery;
  const target = callbackUrl === null ? `endpoint ${endpointId}` : `callback ${sanitizeLine(callbackUrl)}`;
  const nextAttempt = next === null ? '' : `, next attempt ${next}`;
  const tries = (delivery.tries ?? []).map((entry) => {
    const response = sanitizeLine(entry.answer).slice(0, 100);
    const outcome = entry.status === null ? (entry.failure ?? 'no response') : String(entry.status);
    return `    ${entry.attempt}  ${entry.sent_at}  ${outcome} in ${entry.duration_ms} ms  ${response}`.trimEnd();
  });
  return [`  ${target}: ${statusText(output, delivery.status)}${nextAttempt}`, ...tries];
}
