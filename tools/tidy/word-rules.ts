import { findingAt, type Rule, type SourceFile } from './finding.ts';
import { visit } from './typescript.ts';

const glossaryPath = 'docs/glossary.md';

// The values of a payment link's custom fields are answers, and so are the names of what reads and shows them.
const customFieldFiles =
  /^server\/src\/(?:links|pages\/collect)\/(?:custom-fields|pay-link|collect-page|collect-pages|collect-targets|collect-form|form-id)\./;

// Names of the wire and of stored values, which do not change.
const wireNames: Readonly<Record<string, readonly string[]>> = {
  'server/src/webhooks/wire-schemas.ts': ['kept', 'answer'],
  'server/src/webhooks/queries/endpoint-health.ts': ['kept'],
  'server/src/webhooks/endpoint-health.ts': ['kept'],
  'server/src/webhooks/list-events.ts': ['answer'],
  'server/src/webhooks/event-routes.test.ts': ['kept', 'answer'],
  'server/src/networks/inbox.ts': ['answer'],
  'cli/events/event-text.ts': ['answer'],
  'cli/api/responses.ts': ['answer'],
  'cli/hostile-server.test.ts': ['answer'],
  'cli/webhooks/check.ts': ['wanted'],
  'cli/webhooks/check-score.ts': ['wanted'],
};

/** One word has one meaning: a word that was retired for a better one does not come back in a name. */
export const retiredWords: Rule = (files) => {
  const glossary = files.find((file) => file.path === glossaryPath);
  if (!glossary) return [];
  const terms = readRetiredWords(glossary);
  return files
    .filter(({ path }) => /\.[jt]sx?$/.test(path) && !customFieldFiles.test(path))
    .flatMap((file) => {
      const seen = new Set<string>();
      return identifiersOf(file).flatMap(({ name, start }) => {
        const word = wordsOf(name).find((part) => terms.has(part));
        if (word === undefined || seen.has(name) || wireNames[file.path]?.includes(name)) return [];
        seen.add(name);
        const message = `${name} holds the retired word “${word}”; write ${terms.get(word)} (${glossaryPath})`;
        return [findingAt(file, start, message)];
      });
    });
};

/** Each retired word with what to write instead, from the glossary's table. */
function readRetiredWords({ text }: SourceFile): Map<string, string> {
  const table = text.split('\n## Retired words\n')[1] ?? '';
  const rows = [...table.matchAll(/^\| ([^|]+?) \| ([^|]+?) \|$/gm)];
  return new Map(
    rows.flatMap(([, words = '', terms = '']) =>
      words
        .replace(/\(.*\)/, '')
        .split(',')
        .map((word): [string, string] => [word.trim(), terms]),
    ),
  );
}

/** `takeBackMinor` is take, back and minor; `sub_owed` is sub and owed. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[ _$]+/);
}

function identifiersOf(file: SourceFile): { name: string; start: number }[] {
  const identifiers: { name: string; start: number }[] = [];
  const add = ({ name, start }: { name: string; start: number }) => void identifiers.push({ name, start });
  visit(file, { Identifier: add, PrivateIdentifier: add });
  return identifiers;
}
