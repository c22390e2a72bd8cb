import type { Clock } from '../../server/src/kit/clock.ts';
import { resolveBySystem } from '../../server/src/kit/name-resolver.ts';
import { createOutboundClient, type OutboundFailure, type OutboundResult } from '../../server/src/kit/outbound-http.ts';
import { signatureHeaders } from '../../server/src/webhooks/signature.ts';
import type { CommandContext, ExitCode } from '../command.ts';
import type { EventWithBody } from '../events/event-body.ts';
import { retryDelayMs } from '../events/retry-delay.ts';

export interface ListenOptions {
  events: AsyncIterable<EventWithBody>;
  signal: AbortSignal;
  url: string;
  secret: string;
  signatureHeader: string;
}

/** Sends one event at a time, so that they arrive in order. Ends when the signal aborts. */
export async function listen(context: CommandContext, options: ListenOptions): Promise<ExitCode> {
  const { clock, output } = context;
  const { signal, url } = options;
  const forwarder = createForwarder({ ...options, clock });
  const close = (): void => void forwarder.close();
  signal.addEventListener('abort', close, { once: true });
  const counts = { accepted: 0, refused: 0 };
  try {
    for await (const event of options.events) {
      const result = await forwardWithRetries(context, options, forwarder, event);
      if (result === undefined) break;
      const isAccepted = result.kind === 'answered' && result.status >= 200 && result.status < 300;
      counts[isAccepted ? 'accepted' : 'refused'] += 1;
      printDelivery(context, event, result, isAccepted);
    }
  } finally {
    signal.removeEventListener('abort', close);
    await forwarder.close();
  }
  const { accepted, refused } = counts;
  const total = accepted + refused;
  const text = `Forwarded ${total} ${total === 1 ? 'event' : 'events'} to ${url}: ${accepted} accepted, ${refused} not.`;
  output.item(text, { forwarded: total, accepted, refused });
  return 0;
}

// The receiver has not seen the event, so it can be sent again.
const unreachableFailures = new Set<OutboundFailure>(['refused', 'unreachable', 'connect_timeout', 'dns']);

/** Waits while no server listens; undefined when the signal aborts first. */
async function forwardWithRetries(
  { clock, output }: CommandContext,
  { signal, url }: ListenOptions,
  forwarder: Forwarder,
  event: EventWithBody,
): Promise<OutboundResult | undefined> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    const result = await forwarder.send(event);
    if (result.kind === 'answered' || !unreachableFailures.has(result.failure)) {
      if (failures > 0) output.note(`${url} is reachable again.`);
      // A request that the abort ended is no failure of the receiver.
      return result.kind === 'failed' && signal.aborted ? undefined : result;
    }
    if (failures === 0) output.note(`No server listens at ${url} (${result.failure}). Events wait until one does.`);
    await clock.sleep(retryDelayMs(failures), signal);
  }
  return undefined;
}

function printDelivery(
  { output }: CommandContext,
  { row }: EventWithBody,
  result: OutboundResult,
  isAccepted: boolean,
): void {
  const { id, event, object_id: objectId, sequence, created_at: createdAt } = row;
  const outcome = result.kind === 'answered' ? String(result.status) : result.failure;
  const coloured = output.colour(isAccepted ? 'green' : 'red', outcome);
  // UTC is the time of The Gambia.
  const time = output.colour('dim', createdAt.slice('2026-11-20T'.length, '2026-11-20T10:18:00'.length));
  output.item(`${time}  ${event}  ${objectId}  ${coloured} in ${result.durationMs} ms`, {
    event,
    id,
    object_id: objectId,
    sequence,
    created_at: createdAt,
    status: result.kind === 'answered' ? result.status : null,
    failure: result.kind === 'failed' ? result.failure : null,
    duration_ms: result.durationMs,
  });
}

/** Sends events to the developer's receiver as the service would: with the same body, headers and limits. */
interface Forwarder {
  send(event: EventWithBody): Promise<OutboundResult>;
  /** Aborts the request under way. */
  close(): Promise<void>;
}

interface ForwardOptions {
  clock: Clock;
  url: string;
  secret: string;
  /** The name of the service's own signature header. */
  signatureHeader: string;
}

function createForwarder({ clock, url, secret, signatureHeader }: ForwardOptions): Forwarder {
  // The developer's own address, on their own machine.
  const resolveName = resolveBySystem;
  const policy = { allowPrivate: true };
  const outbound = createOutboundClient({ clock, policy, userAgent: 'Dalasi-Webhooks', resolveName });
  return {
    send: ({ row, body }) => {
      const message = { id: row.id, sentAt: clock.now(), body };
      const signatures = signatureHeaders(message, { current: secret, previous: null }, signatureHeader);
      const headers = { 'content-type': 'application/json', ...signatures };
      return outbound.post({ url, headers, body, httpsOnly: false });
    },
    close: () => outbound.close(),
  };
}
