import { dirname, join } from 'node:path/posix';
import { findingAt, type Finding, type Rule, type SourceFile } from './finding.ts';
import { parseTypeScript } from './typescript.ts';

interface Comment {
  start: number;
  /** On one line, without what makes it a comment. */
  text: string;
}

const pagePattern = /[\w./-]*\b[\w-]+[.]md\b/g;
const headingsPattern = /^,((?: (?:and )?"[^"]+",?)+)/;
const recordPattern = /\bdocs\/adr\/(\d{4}[\w-]*)|\b(?:ADRs?|[Dd]ecisions?) (\d+)\b/g;

/**
 * What a comment cites is in the repository: a page by its path from the root, its heading behind it (`docs/api.md, "Errors"`),
 * a decision by its path. A link between documents leads to a heading that is there.
 */
export const citations: Rule = (files) => {
  const pages = new Map(files.filter(({ path }) => path.endsWith('.md')).map((file) => [file.path, headingsOf(file)]));
  const loose = loosePattern([...pages.keys()]);
  return files.flatMap((file) => [
    ...findComments(file).flatMap((comment) =>
      complaintsAbout(comment, pages, loose).map((message) => findingAt(file, comment.start, message)),
    ),
    ...brokenAnchors(file, pages),
  ]);
};

function complaintsAbout({ text }: Comment, pages: ReadonlyMap<string, string[]>, loose: RegExp): string[] {
  const complaints: string[] = [];
  for (const match of text.matchAll(pagePattern)) {
    const [page] = match;
    const headings = pages.get(page);
    if (!headings) {
      complaints.push(`cites ${page}, which is not in the repository; cite what is, by its path from the root`);
      continue;
    }
    const [, cited = ''] = headingsPattern.exec(text.slice(match.index + page.length)) ?? [];
    for (const [, heading = ''] of cited.matchAll(/"([^"]+?),?"/g)) {
      if (!headings.includes(heading)) complaints.push(`cites "${heading}" of ${page}, which has no such heading`);
    }
  }
  for (const [cited, name, number] of text.matchAll(recordPattern)) {
    const isThere =
      name !== undefined &&
      [...pages.keys()].some(
        (page) => page.startsWith(`docs/adr/${name.slice(0, 4)}-`) && page.startsWith(`docs/adr/${name}`),
      );
    if (number !== undefined || !isThere)
      complaints.push(`cites ${cited}, which leads nowhere; write docs/adr/ and the number of one that is there`);
  }
  for (const [, cited = ''] of text.matchAll(loose))
    complaints.push(`cites ${cited} without saying where it is; write docs/<page>.md, "Heading"`);
  return complaints;
}

/** A page's name alone, with a heading or a section behind it. */
function loosePattern(paths: readonly string[]): RegExp {
  const names = paths.flatMap((path) => /^docs\/([\w-]+)[.]md$/.exec(path)?.[1] ?? []);
  const others = ['decisions', 'interface', 'contract', 'scale', 'style', 'checks', 'stack'];
  return new RegExp(
    `(?<![\\w/.-])((?:${[...names, ...others].join('|')}), (?:"[A-Z]|section \\d|[A-Z][a-z]+ [a-z]+\\)))`,
    'gi',
  );
}

function findComments(file: SourceFile): Comment[] {
  if (/[.](ts|js)$/.test(file.path)) return joinLines(file);
  if (!file.path.endsWith('.sql')) return [];
  return [...file.text.matchAll(/(?:^|\n)[ \t]*--[^\n]*(?:\n[ \t]*--[^\n]*)*/g)].map((match) => ({
    start: match.index + match[0].search(/-/),
    text: oneLine(match[0], /\n?[ \t]*--[ ]?/g),
  }));
}

/** Line comments below each other are one. */
function joinLines(file: SourceFile): Comment[] {
  const joined: (Comment & { end: number })[] = [];
  for (const { type, value, start, end } of parseTypeScript(file).comments) {
    const last = joined.at(-1);
    const text = type === 'Block' ? oneLine(value, /\n[ \t]*\*?/g) : value;
    if (type === 'Line' && last && /^\n[ \t]*$/.test(file.text.slice(last.end, start))) {
      last.text += ` ${text.trim()}`;
      last.end = end;
    } else joined.push({ start, end, text });
  }
  return joined;
}

function oneLine(text: string, lineStart: RegExp): string {
  return text.replaceAll(lineStart, ' ').replaceAll(/ {2,}/g, ' ');
}

function headingsOf(page: SourceFile): string[] {
  const text = page.text.replaceAll(/^```[\s\S]*?^```/gm, '');
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
}

function brokenAnchors(file: SourceFile, pages: ReadonlyMap<string, string[]>): Finding[] {
  if (!file.path.endsWith('.md')) return [];
  return [...file.text.matchAll(/\]\(([\w./-]*)#([\w-]+)\)/g)].flatMap((match) => {
    const [, target = '', anchor = ''] = match;
    const page = target === '' ? file.path : join(dirname(file.path), target);
    if (pages.get(page)?.some((heading) => anchorOf(heading) === anchor)) return [];
    return [findingAt(file, match.index, `links to #${anchor} of ${page}, which has no such heading`)];
  });
}

/** As the sites that show Markdown make it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}
