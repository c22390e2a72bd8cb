import { median } from './statistics.ts';

/** Two sides measured alternately, so that the machine's own variations affect both. */
export interface Comparison {
  /** Median over the rounds. */
  measured: number;
  base: number;
  /** Median over the rounds of measured ÷ base, with the lowest and the highest. */
  ratio: number;
  ratioLowest: number;
  ratioHighest: number;
}

export interface Round {
  measured: number;
  base: number;
}

/** Measures both sides in each round; the order changes from round to round, so that neither is always first. */
export async function measureAlternately(
  rounds: number,
  sides: { measured: () => Promise<number>; base: () => Promise<number> },
  report: (round: number, figures: Round) => void,
): Promise<Comparison> {
  const results: Round[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const figures: Round = { measured: 0, base: 0 };
    const order = round % 2 === 0 ? (['base', 'measured'] as const) : (['measured', 'base'] as const);
    for (const side of order) figures[side] = await sides[side]();
    report(round, figures);
    results.push(figures);
  }
  return compare(results);
}

function compare(rounds: readonly Round[]): Comparison {
  const ratios = rounds.map(({ measured, base }) => measured / base);
  return {
    measured: median(rounds.map((round) => round.measured)),
    base: median(rounds.map((round) => round.base)),
    ratio: median(ratios),
    ratioLowest: Math.min(...ratios),
    ratioHighest: Math.max(...ratios),
  };
}

/** `0.62 (0.58 to 0.66)` */
export function describeRatio({ ratio, ratioLowest, ratioHighest }: Comparison): string {
  return `${ratio.toFixed(2)} (${ratioLowest.toFixed(2)} to ${ratioHighest.toFixed(2)})`;
}
