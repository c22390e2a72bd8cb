import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** What the service measures of itself, read by Prometheus at /metrics. */
export interface Metrics {
  observeRequest(request: { method: string; route: string; status: number }, durationMs: number): void;
  /** A figure that is read when somebody asks for it. */
  gauge(name: string, help: string, labels: readonly string[], read: (set: GaugeSetter) => Promise<void>): void;
  text(): Promise<string>;
  readonly contentType: string;
}

export type GaugeSetter = (labels: Record<string, string>, value: number) => void;

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
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
  return {
    observeRequest: ({ method, route, status }, durationMs) => {
      requests.inc({ method, route, status: String(status) });
      durations.observe({ method, route }, durationMs / 1_000);
    },
    gauge: (name, help, labelNames, read) => {
      new Gauge({
        name,
        help,
        labelNames: [...labelNames],
        registers: [registry],
        async collect() {
          this.reset();
          // A figure that cannot be read just now is left out; the others are wanted most when the database is away.
          await read((labels, value) => this.set(labels, value)).catch(() => this.reset());
        },
      });
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
