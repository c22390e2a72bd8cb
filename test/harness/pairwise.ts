import type { Random } from '../../server/src/kit/random.ts';

type Settings = Readonly<Record<string, readonly (string | number | boolean)[]>>;

/** A subject with one value for each setting. */
export type Combination<Subject, S extends Settings> = { subject: Subject } & {
  -readonly [Name in keyof S]: S[Name][number];
};

/** Every subject with every combination of the settings' values. */
export function every<Subject, S extends Settings>(
  subjects: readonly Subject[],
  settings: S,
): Combination<Subject, S>[] {
  const combinations = Object.entries(settings).reduce<Record<string, unknown>[]>(
    (parts, [name, values]) => parts.flatMap((part) => values.map((value) => ({ ...part, [name]: value }))),
    [{}],
  );
  return subjects.flatMap((subject) =>
    combinations.map((chosen) => ({ subject, ...chosen }) as Combination<Subject, S>),
  );
}

// A subject gets the one of these, chosen at random, that has the most pairs that no subject has yet.
const triesPerSubject = 30;

/**
 * Every subject once, so that any two values of two settings meet in at least one of them: most faults of a layout
 * come from one value or from two that meet.
 */
export function everyPairOnce<Subject, S extends Settings>(
  subjects: readonly Subject[],
  settings: S,
  random: Random,
): Combination<Subject, S>[] {
  const missing = new Set(every([null], settings).flatMap((combination) => pairsOf(combination, settings)));
  const cases: Combination<Subject, S>[] = [];
  const add = (subject: Subject): void => {
    const tries = Array.from({ length: triesPerSubject }, () => randomCombination(subject, settings, random));
    const gain = (combination: Combination<Subject, S>): number =>
      pairsOf(combination, settings).filter((pair) => missing.has(pair)).length;
    const best = tries.reduce((one, other) => (gain(other) > gain(one) ? other : one));
    for (const pair of pairsOf(best, settings)) missing.delete(pair);
    cases.push(best);
  };
  for (const subject of subjects) add(subject);
  // With few subjects, some are seen again.
  for (let index = 0; missing.size > 0; index += 1) add(subjects[index % subjects.length] as Subject);
  return cases;
}

function randomCombination<Subject, S extends Settings>(
  subject: Subject,
  settings: S,
  random: Random,
): Combination<Subject, S> {
  const chosen = Object.entries(settings).map(([name, values]) => {
    const [byte = 0] = random.bytes(1);
    return [name, values[byte % values.length]];
  });
  return { subject, ...Object.fromEntries(chosen) } as Combination<Subject, S>;
}

function pairsOf(combination: Readonly<Record<string, unknown>>, settings: Settings): string[] {
  const values = Object.keys(settings).map((name) => `${name}=${String(combination[name])}`);
  return values.flatMap((one, index) => values.slice(index + 1).map((other) => `${one} ${other}`));
}
