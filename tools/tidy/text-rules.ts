import { createHash } from 'node:crypto';
import type { Finding, Rule, SourceFile } from './finding.ts';
import { findingAt, findMatches } from './finding.ts';

/** Notes to oneself: the thing is done, or it stands in the list of what is not. */
export const leftoverMarkers: Rule = (files) =>
  files
    .filter((file) => !isAboutTheRules(file))
    .flatMap((file) =>
      findMatches(
        file,
        file.text,
        /\b(?:TODO|FIXME|XXX|HACK)\b(?!-)/g,
        'leaves a note behind; do it, or write what is missing and why into the documentation',
      ),
    );

const placesOfOneMachine = [
  /(?<![\w.:~/-])\/(?:home|root|Users|work|workspace)\/[\w.-]/g,
  /\bfile:\/\/\/(?:home|root|Users|work|workspace)\//g,
  /\bshared\/[\w-]+[.]md\b/g,
];

/** Whoever clones the repository has other folders. */
export const foreignPaths: Rule = (files) =>
  files
    .filter((file) => !isAboutTheRules(file))
    .flatMap((file) =>
      placesOfOneMachine.flatMap((pattern) =>
        findMatches(
          file,
          file.text,
          pattern,
          'names a place that only one machine has; name it from the root of the repository',
        ),
      ),
    );

// The first 12 digits of the SHA-256 of words in lower case: other companies and their products. Hashes, because this
// would otherwise be the one file that holds the words.
const foreignWordHashes = new Set(
  `002768111e7a 0666218046d3 2b1da9c84007 2bed2032ed3d 2e9d7e4b46d8 3108b570d182 3ad26c5abab8 3b03d4b40867
   3b3ece1ac77e 3ea125d0bff3 3ebffcf1a861 487b91042c7c 4cbef13a96d4 5089363df6fd 54205969b565 55c07c4f8e35
   572699c38edd 57de4cf40144 591113c38d14 60965168ce76 6efbef2a1a8a 7d3194f79e64 7d3681271b15 7ee6e6b2e281
   7f9f0fee24a3 87fee0d7ec3e 90f71016af8e 93497bf6af54 94a168d2da57 952950380dd0 9ac387e9a8da 9bd03fba6496
   9e7981da28f6 a13399222590 a384af6ac427 a480a469d4e9 a4c990cb1259 a98eb20cf497 aab666517e0a ada67c017aa2
   afe4d16f403a b21ef46cbb68 b3fe4e1007a8 c2531a4431be c6e5fe0a264d c70eca6b0f88 c857d09db23e cbd65b8f42f1
   d298391b0743 de2187af3fb0 e2d67f41fee2 e539cb6d872a e5b4a0cf63bb e7e0dd71b596 e9e9c5338552 ea3a62f93a48
   eae7b6a87227 ee46e2d141d5 f2bb6839372b`.split(/\s+/),
);
const foreignWordLengths = { min: 3, max: 14 };

/** The repository names no other payment company: what it does stands for itself. */
export const foreignWords: Rule = (files) => {
  const known = new Map<string, boolean>();
  const isForeign = (word: string) => {
    if (word.length < foreignWordLengths.min || word.length > foreignWordLengths.max) return false;
    const cached = known.get(word);
    if (cached !== undefined) return cached;
    const answer = foreignWordHashes.has(hashWord(word));
    known.set(word, answer);
    return answer;
  };
  return files.flatMap((file) => foreignWordsIn(file, isForeign));
};

export function hashWord(word: string): string {
  return createHash('sha256').update(word.toLowerCase()).digest('hex').slice(0, 12);
}

/** Looks at words, at parts of camelCase words, and at two neighbours written apart. */
function foreignWordsIn(file: SourceFile, isForeign: (word: string) => boolean): Finding[] {
  const parts = [...file.text.matchAll(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g)];
  const words = [...file.text.matchAll(/[A-Za-z]+/g)];
  const found = new Map<number, string>();
  for (const word of [...words, ...parts]) if (isForeign(word[0].toLowerCase())) found.set(word.index, word[0]);
  for (const [place, part] of parts.entries()) {
    const next = parts[place + 1];
    if (!next || next.index - (part.index + part[0].length) > 1) continue;
    const pair = part[0] + next[0];
    if (isForeign(pair.toLowerCase())) found.set(part.index, file.text.slice(part.index, next.index + next[0].length));
  }
  return [...found].map(([offset, word]) =>
    findingAt(file, offset, `says “${word}”, which has no place in this repository; describe the thing itself`),
  );
}

/** The rules and their tests hold what they look for. */
function isAboutTheRules(file: SourceFile): boolean {
  return file.path.startsWith('tools/tidy');
}
