import type { Random } from '../kit/random.ts';

/** A number from 0 to below 1. */
export function fraction(random: Random): number {
  return Buffer.from(random.bytes(4)).readUInt32BE() / 2 ** 32;
}

/** Whether something happens that happens so often: `0.1` for one time in ten. */
export function happens(random: Random, probability: number): boolean {
  return fraction(random) < probability;
}

/** A whole number from `least` to `most`. */
export function wholeNumber(random: Random, least: number, most: number): number {
  return least + Math.floor(fraction(random) * (most - least + 1));
}

/** One of the choices, each as likely as its weight. */
export function weighted<Choice>(random: Random, choices: readonly (readonly [Choice, number])[]): Choice {
  let rest = fraction(random) * choices.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [choice, weight] of choices) {
    rest -= weight;
    if (rest < 0) return choice;
  }
  return oneOf(random, choices)[0];
}

export function oneOf<Choice>(random: Random, choices: readonly Choice[]): Choice {
  const choice = choices[Math.floor(fraction(random) * choices.length)];
  if (choice === undefined) throw new Error('there is nothing to choose from');
  return choice;
}
