import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { unreadableReasons, type UnreadableReason } from '../kit/seal.ts';
import type { Outcome } from '../events/outcome.ts';
import type { LimiterFigures } from '../kit/keyed-limiter.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { countOutcomes } from './outcome-counters.ts';
import type { ObservedCall } from '../networks/observed-connector.ts';
import { messageOutcomes, type MessageOutcome } from '../receipts/receive-message.ts';
import { callbackOutcomes, type CallbackOutcome } from './network-callbacks.ts';

/** The service's figures, which Prometheus reads at /metrics. */
export interface Metrics {
  observeRequest(request: { method: string; route: string; status: number }, durationMs: number): void;
  /** An attempt to deliver a webhook, by outcome: `pending` will be retried, `failed` was the last. */
  observeWebhookAttempt(outcome: WebhookOutcome): void;
  /** A call to a network through a rail account; `unknown` is one whose outcome has to be looked up. */
  observeNetworkCall(call: NetworkCallOutcome): void;
  /** A callback of a network, by what came of it. */
  observeCallback(outcome: CallbackOutcome): void;
  /** A message that a shop's phone has forwarded, by what came of it. */
  observeMessage(outcome: ForwardedOutcome): void;
  /** A payment or a payout that has got an outcome. */
  observeOutcome(outcome: Outcome): void;
  /** A sealed value that could not be opened. */
  observeUnreadable(reason: UnreadableReason): void;
  /** A request that the request log lacks, because too many waited to be written. */
  observeDroppedRequest(): void;
  /** How many there have been since the process started. */
  readonly unreadableCount: number;
  /** Registers a gauge that is read at each scrape. */
  gauge(name: string, help: string, labels: readonly string[], read: (set: GaugeSetter) => Promise<void> | void): void;
  /** The same for one figure without labels; one that is not known is omitted. */
  figure(name: string, help: string, read: () => Promise<Figure> | Figure): void;
  /** Registers a limiter's figures. */
  watchLimiter(limiter: LimiterFigures): void;
  text(): Promise<string>;
  readonly contentType: string;
}

const webhookOutcomes = ['delivered', 'pending', 'failed'] as const;
type WebhookOutcome = (typeof webhookOutcomes)[number];

type ForwardedOutcome = MessageOutcome | 'refused';

type NetworkCallOutcome = ObservedCall & { account: string };

type Figure = number | null | undefined;

export type GaugeSetter = (labels: Record<string, string>, value: number) => void;

// The figures of the process are watched once, whatever number of applications runs in it: their watchers never end.
let processRegistry: Registry | undefined;

export function createMetrics(): Metrics {
  const registry = new Registry();
  processRegistry ??= watchProcess();
  const registries = [processRegistry, registry];
  const requests = new Counter({
    name: 'dalasi_http_requests_total',
    help: 'Requests answered, by route and status.',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'dalasi_http_request_duration_seconds',
    help: 'Time from the request to the end of its answer.',
    labelNames: ['method', 'route'],
    buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5],
    registers: [registry],
  });
  const countUnreadable = countBy(registry, 'reason', unreadableReasons, {
    name: 'dalasi_sealed_values_unreadable_total',
    help: 'Sealed values that could not be opened: their key is not configured (key_missing), or they were changed (damaged).',
  });
  const [droppedRequests, networkCalls] = [countDroppedRequests(registry), countNetworkCalls(registry)];
  const observeOutcome = countOutcomes(registry);
  registerBuild(registry);
  const limiters: LimiterFigures[] = [];
  registerLimiterGauges(registry, limiters);
  let unreadableCount = 0;
  return {
    observeDroppedRequest: () => droppedRequests.inc(),
    observeOutcome,
    observeNetworkCall: ({ account, call, outcome }) => networkCalls.inc({ account, call, outcome }),
    ...countByOutcome(registry),
    observeUnreadable: (reason) => {
      countUnreadable(reason);
      unreadableCount += 1;
    },
    get unreadableCount() {
      return unreadableCount;
    },
    observeRequest: ({ method, route, status }, durationMs) => {
      requests.inc({ method, route, status: String(status) });
      durations.observe({ method, route }, durationMs / 1_000);
    },
    ...gaugesOf(registry),
    watchLimiter: (limiter) => limiters.push(limiter),
    text: () => Registry.merge(registries).metrics(),
    contentType: registry.contentType,
  };
}

function gaugesOf(registry: Registry): Pick<Metrics, 'gauge' | 'figure'> {
  const gauge: Metrics['gauge'] = (name, help, labelNames, read) => {
    new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      async collect() {
        clear(this);
        try {
          await read((labels, value) => this.set(labels, value));
        } catch {
          // A gauge that cannot be read is omitted: the others matter most while the database is unreachable.
          clear(this);
        }
      },
    });
  };
  return {
    gauge,
    figure: (name, help, read) =>
      gauge(name, help, [], async (set) => {
        const value = await read();
        if (value !== null && value !== undefined) set({}, value);
      }),
  };
}

/** A reset alone leaves 0 where there are no labels: a figure that is not known would look like the best one. */
function clear(gauge: Gauge): void {
  gauge.reset();
  gauge.remove({});
}

function watchProcess(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

function registerBuild(registry: Registry): void {
  const build = new Gauge({
    name: 'dalasi_build_info',
    help: 'Always 1; its labels say what runs.',
    labelNames: ['version', 'node'],
    registers: [registry],
  });
  build.set({ version: manifest.version, node: process.version }, 1);
}

/** A counter by one label. Prometheus sees the first increase of a series only if that existed with 0 before. */
function countBy<Value extends string>(
  registry: Registry,
  label: string,
  values: readonly Value[],
  { name, help }: { name: string; help: string },
): (value: Value) => void {
  const counter = new Counter({ name, help, labelNames: [label], registers: [registry] });
  for (const value of values) counter.inc({ [label]: value }, 0);
  return (value) => counter.inc({ [label]: value });
}

/** What is delivered to merchants, and what arrives from networks and phones. */
function countByOutcome(
  registry: Registry,
): Pick<Metrics, 'observeWebhookAttempt' | 'observeCallback' | 'observeMessage'> {
  return {
    observeWebhookAttempt: countBy(registry, 'outcome', webhookOutcomes, {
      name: 'dalasi_webhook_attempts_total',
      help: 'Attempts to deliver a webhook, by outcome: delivered, pending (to be tried again) or failed (the last one).',
    }),
    observeCallback: countBy(registry, 'outcome', callbackOutcomes, {
      name: 'dalasi_network_callbacks_total',
      help: 'Callbacks of networks: stored, about nothing of ours (unknown), refused, or refused from an address that sent too many (limited).',
    }),
    observeMessage: countBy(registry, 'outcome', [...messageOutcomes, 'refused'], {
      name: 'dalasi_receipt_messages_total',
      help: 'Messages that phones of shops have forwarded, by what came of them.',
    }),
  };
}

function countDroppedRequests(registry: Registry): Counter {
  return new Counter({
    name: 'dalasi_request_log_dropped_total',
    help: 'Requests that were served but not logged for developers, because too many waited to be written.',
    registers: [registry],
  });
}

function countNetworkCalls(registry: Registry): Counter {
  return new Counter({
    name: 'dalasi_network_calls_total',
    help: 'Calls to networks by rail account: answered, or unknown until they are looked up.',
    labelNames: ['account', 'call', 'outcome'],
    registers: [registry],
  });
}

function registerLimiterGauges(registry: Registry, limiters: readonly LimiterFigures[]): void {
  const figures = [
    ['dalasi_limiter_permits_in_use', 'What is under way, by limiter.', 'inUse'],
    ['dalasi_limiter_waiting', 'What waits for a permit, by limiter.', 'waiting'],
    ['dalasi_limiter_refused_total', 'What was refused because too much waited, by limiter.', 'refused'],
  ] as const;
  for (const [name, help, figure] of figures) {
    new Gauge({
      name,
      help,
      labelNames: ['limiter'],
      registers: [registry],
      collect() {
        for (const limiter of limiters) this.set({ limiter: limiter.name }, limiter[figure]);
      },
    });
  }
}
