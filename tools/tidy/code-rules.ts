import type { Expression, Node } from 'oxc-parser';
import { findingAt, type Finding, type Rule, type SourceFile } from './finding.ts';
import { isServiceCode, isTest } from './source-files.ts';
import { parseTypeScript, visit } from './typescript.ts';

/** The linter has no rule for it: the machine's time is read in one file only. */
export const ambientTime: Rule = (files) =>
  files
    .filter((file) => isServiceCode(file.path) && file.path !== 'server/src/kit/clock.ts')
    .flatMap((file) => {
      const findings: Finding[] = [];
      const look = (node: { start: number; callee: Expression; arguments: unknown[] }, readsTime: boolean) => {
        if (node.callee.type !== 'Identifier' || node.callee.name !== 'Date' || !readsTime) return;
        const message = 'takes the time from the machine; take it from the Clock that is handed in: clock.now()';
        findings.push(findingAt(file, node.start, message));
      };
      visit(file, {
        NewExpression: (node) => look(node, node.arguments.length === 0),
        CallExpression: (node) => look(node, true),
      });
      return findings;
    });

/** One file decides what every cookie is: `__Host-`, Secure, HttpOnly, SameSite. */
export const cookiesSetElsewhere: Rule = (files) =>
  files
    .filter((file) => isServiceCode(file.path) && file.path !== 'server/src/pages/page-cookies.ts')
    .flatMap((file) =>
      [...file.text.matchAll(/\.(?:setCookie|cookie|clearCookie)\(|['"]set-cookie['"]/gi)].map(({ index }) =>
        findingAt(file, index, 'sets a cookie by itself; use createPageCookies of server/src/pages/page-cookies.ts'),
      ),
    );

/** A file that passes on what another defines hides where things are. Only queries, which are private, may be let out. */
export const passedOnExports: Rule = (files) =>
  files.filter(isTypeScript).flatMap((file) =>
    parseTypeScript(file)
      .program.body.filter(
        (node) =>
          node.type === 'ExportAllDeclaration' ||
          (node.type === 'ExportNamedDeclaration' &&
            node.source !== null &&
            !node.source.value.startsWith('./queries')),
      )
      .map((node) =>
        findingAt(file, node.start, 'passes on what another file defines; let users import the file that defines it'),
      ),
  );

/** A rule may be switched off on one line, for a reason that stands there. */
export const silencedRules: Rule = (files) =>
  files.filter(isTypeScript).flatMap((file) =>
    parseTypeScript(file)
      .comments.filter(({ value }) => /\b(?:ox|es)lint-disable\b(?![^\n]* -- \S)/.test(value))
      .map(({ start }) =>
        findingAt(
          file,
          start,
          'switches a rule off without saying why; add the reason: oxlint-disable-next-line the-rule -- the reason',
        ),
      ),
  );

const testFunctions = new Set(['test', 'it', 't', 'describe', 'suite', 'context']);
const notRun = new Set(['only', 'skip', 'todo']);

/** A test that does not run protects nothing. */
export const testsThatDoNotRun: Rule = (files) =>
  files
    .filter((file) => isTest(file.path))
    .flatMap((file) => {
      const findings: Finding[] = [];
      visit(file, {
        CallExpression: (node) => {
          const isLeftOut =
            leavesOut(node.callee) || (isTestFunction(node.callee) && node.arguments.some(hasLeavingOption));
          if (isLeftOut) findings.push(findingAt(file, node.start, 'leaves tests out; every test runs, or goes'));
        },
      });
      return findings;
    });

function isTestFunction(node: Node): boolean {
  return node.type === 'Identifier' && testFunctions.has(node.name);
}

/** `test.skip` */
function leavesOut(node: Node): boolean {
  return (
    node.type === 'MemberExpression' &&
    isTestFunction(node.object) &&
    node.property.type === 'Identifier' &&
    notRun.has(node.property.name)
  );
}

/** `{ skip: true }` */
function hasLeavingOption(node: Node): boolean {
  return (
    node.type === 'ObjectExpression' &&
    node.properties.some(
      (property) =>
        property.type === 'Property' &&
        property.key.type === 'Identifier' &&
        notRun.has(property.key.name) &&
        !(property.value.type === 'Literal' && property.value.value === false),
    )
  );
}

// A title then fits a line of 120 characters in a report, with its indent, mark and time.
const titleLengthMax = 99;

/** A test's title is a line of the report; it is measured as written, with its `${…}`. */
export const shortTestTitles: Rule = (files) =>
  files
    .filter((file) => isTest(file.path))
    .flatMap((file) => {
      const findings: Finding[] = [];
      visit(file, {
        CallExpression: ({ callee, arguments: [title] }) => {
          if (!isTestCall(callee) || (title?.type !== 'Literal' && title?.type !== 'TemplateLiteral')) return;
          const quotes = 2;
          const length = title.end - title.start - quotes;
          if (length <= titleLengthMax) return;
          const message = `has a title of ${length} characters; write one of ${titleLengthMax} at most`;
          findings.push(findingAt(file, title.start, message));
        },
      });
      return findings;
    });

/** `test(…)`, or `t.test(…)` inside of a test */
function isTestCall(node: Node): boolean {
  if (node.type !== 'MemberExpression') return isTestFunction(node);
  return isTestFunction(node.object) && isTestFunction(node.property);
}

function isTypeScript(file: SourceFile): boolean {
  return /[.]tsx?$/.test(file.path);
}
