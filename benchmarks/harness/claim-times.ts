import type { Figure } from './part.ts';
import type { Bar } from './plot.ts';
import { inMs, latenciesOf, type Latencies } from './statistics.ts';

/** How long workers' claims and sweeps of due work take. */
export interface ClaimTimes {
  claims: Latencies;
  sweeps: Latencies;
  /** Medians of the first and the last tenth of the claims. */
  firstMs: number;
  lastMs: number;
}

/** The longest p99 of a claim or a sweep. */
const p99MaxMs = 20;

export function claimTimes(claimsMs: readonly number[], sweepsMs: readonly number[]): ClaimTimes {
  const tenth = Math.max(1, Math.floor(claimsMs.length / 10));
  return {
    claims: latenciesOf(claimsMs),
    sweeps: latenciesOf(sweepsMs),
    firstMs: latenciesOf(claimsMs.slice(0, tenth)).p50Ms,
    lastMs: latenciesOf(claimsMs.slice(-tenth)).p50Ms,
  };
}

export function claimFigures(scope: string, { claims, firstMs, lastMs }: ClaimTimes): Figure[] {
  return [
    { label: `Claim p99, ${scope}`, value: inMs(claims.p99Ms), aim: p99Aim(claims) },
    { label: `Claim p50 and p95, ${scope}`, value: `${inMs(claims.p50Ms)}, ${inMs(claims.p95Ms)}` },
    { label: `First tenth, last tenth, p50, ${scope}`, value: `${inMs(firstMs)}, ${inMs(lastMs)}` },
  ];
}

export function p99Aim({ p99Ms }: Latencies): Required<Figure>['aim'] {
  return { text: `under ${p99MaxMs} ms`, isMet: p99Ms < p99MaxMs };
}

export function claimBar(label: string, { claims }: ClaimTimes): Bar {
  return { label, value: claims.p99Ms, aim: p99MaxMs, better: 'lower', unit: 'ms' };
}
