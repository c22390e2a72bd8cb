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

const dayMs = 86_400_000;

/** Today, as `PAGES_SEED` has it: the seed of what is chosen. */
export function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/** Those of the subjects that a day sees; any `days` days in a row see each of them once. */
export function ofDay<Subject>(subjects: readonly Subject[], { day, days }: { day: string; days: number }): Subject[] {
  const number = Date.parse(day) / dayMs;
  return subjects.filter((_subject, index) => (index + number) % days === 0);
}

// A subject gets the one of these, chosen at random, that has the most pairs that no subject has yet.
const triesPerSubject = 30;
// With fewer subjects than pairs, each is seen again this often at most; what is missing then can be on none of them.
const roundsMax = 5;

/**
 * Every subject once, so that any two values of two settings meet in at least one of them: most faults of a layout
 * come from one value or from two that meet. A subject gets only what it `allows`; pairs that none of them does are left out.
 */
export function everyPairOnce<Subject, S extends Settings>(
  subjects: readonly Subject[],
  settings: S,
  random: Random,
  allows: (combination: Combination<Subject, S>) => boolean = () => true,
): Combination<Subject, S>[] {
  const missing = new Set(every([null], settings).flatMap((combination) => pairsOf(combination, settings)));
  const cases: Combination<Subject, S>[] = [];
  const gain = (combination: Combination<Subject, S>): number =>
    pairsOf(combination, settings).filter((pair) => missing.has(pair)).length;
  const bestFor = (subject: Subject): Combination<Subject, S> | undefined => {
    const tries = Array.from({ length: triesPerSubject }, () => randomCombination(subject, settings, random));
    const allowed = tries.filter(allows);
    const possible = allowed.length > 0 ? allowed : every([subject], settings).filter(allows);
    return possible.toSorted((one, other) => gain(other) - gain(one))[0];
  };
  for (
    let index = 0;
    index < subjects.length * roundsMax && (index < subjects.length || missing.size > 0);
    index += 1
  ) {
    const best = bestFor(subjects[index % subjects.length] as Subject);
    // Again only for what it adds.
    if (!best || (index >= subjects.length && gain(best) === 0)) continue;
    for (const pair of pairsOf(best, settings)) missing.delete(pair);
    cases.push(best);
  }
  return cases;
}

/** The pairs of values, as text, that no case has although some subject allows them. */
export function unseenPairs<Subject, S extends Settings>(
  cases: readonly Combination<Subject, S>[],
  subjects: readonly Subject[],
  settings: S,
  allows: (combination: Combination<Subject, S>) => boolean = () => true,
): string[] {
  const seen = new Set(cases.flatMap((each) => pairsOf(each, settings)));
  const all = new Set(every([null], settings).flatMap((each) => pairsOf(each, settings)));
  const unseen = [...all].filter((pair) => !seen.has(pair));
  if (unseen.length === 0) return [];
  const possible = every(subjects, settings).filter(allows);
  return unseen.filter((pair) => possible.some((each) => pairsOf(each, settings).includes(pair)));
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
