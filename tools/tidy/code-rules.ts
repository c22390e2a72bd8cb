import type { Finding, Rule, SourceFile } from './finding.ts';
import { findMatches } from './finding.ts';
import { codeOnly, findPieces } from './pieces.ts';
import { isServiceCode, isTest } from './source-files.ts';

/** What the linter has no rule for. The time of the machine is asked for in one place only. */
export const ambientTime: Rule = (files) =>
  files
    .filter((file) => isServiceCode(file.path) && file.path !== 'server/src/kit/clock.ts')
    .flatMap((file) =>
      findMatches(
        file,
        codeOnly(file.text),
        /\bnew\s+Date\s*\(\s*\)|(?<!\bnew\s+|[.\w])Date\s*\(/g,
        'takes the time from the machine; take it from the Clock that is handed in: clock.now()',
      ),
    );

/** A file that passes on what another defines hides where things are. Only queries, which are private, may be let out. */
export const passedOnExports: Rule = (files) =>
  typeScript(files).flatMap((file) =>
    findMatches(
      file,
      codeOnly(file.text),
      /^[ \t]*export\s+(type\s+)?(\*|\{[^}]*\})[^;'"`]*\bfrom\b/gm,
      'passes on what another file defines; let users import the file that defines it',
    ).filter((finding) => !/from '\.\/queries\.ts'/.test(statementAt(file, finding.line))),
  );

/** A rule may be switched off on one line, for a reason that stands there. */
export const silencedRules: Rule = (files) =>
  typeScript(files).flatMap((file) =>
    findPieces(file.text)
      .filter((piece) => piece.kind === 'comment')
      .flatMap((piece) =>
        findMatches(
          file,
          file.text.slice(0, piece.start).replace(/[^\n]/g, ' ') + piece.text,
          /\b(?:ox|es)lint-disable\b(?![^\n]* -- \S)[^\n]*/g,
          'switches a rule off without saying why; add the reason: oxlint-disable-next-line the-rule -- the reason',
        ),
      ),
  );

const notRun = [
  /\b(?:test|it|t|describe|suite|context)\.(?:only|skip|todo)\s*\(/g,
  /\b(?:test|it|describe|suite)\s*\([^{}]*?,\s*\{[^{}]*\b(?:only|skip|todo)\s*:\s*(?!false\b|undefined\b)/g,
];

/** A test that does not run protects nothing. */
export const testsThatDoNotRun: Rule = (files) =>
  files
    .filter((file) => isTest(file.path))
    .flatMap((file) => {
      const code = codeOnly(file.text);
      const message = 'leaves tests out; every test runs, or goes';
      return notRun.flatMap((pattern): Finding[] => findMatches(file, code, pattern, message));
    });

function statementAt(file: SourceFile, line: number): string {
  return (
    file.text
      .split('\n')
      .slice(line - 1)
      .join('\n')
      .split(';')[0] ?? ''
  );
}

function typeScript(files: readonly SourceFile[]): SourceFile[] {
  return files.filter((file) => /[.]tsx?$/.test(file.path));
}
