import { findingAt, type Finding, type Rule, type SourceFile } from './finding.ts';

const codesPath = 'server/src/api/error-codes.ts';
const pagePath = /^docs\/errors\/(\w+)[.]md$/;

/** A caller who gets a code can read what happened and what to do: each answer links to the page. */
export const errorPages: Rule = (files) => {
  const codes = readErrorCodes(files.find((file) => file.path === codesPath));
  const pages = files.filter((file) => pagePath.test(file.path) && !/\/(?:README|index)[.]md$/.test(file.path));
  return [
    ...codes.flatMap(({ code, title, finding }) => {
      const page = pages.find((file) => file.path === `docs/errors/${code}.md`);
      if (!page)
        return [finding(`has no page docs/errors/${code}.md; write what happened, how to mend it, and an example`)];
      if (headingOf(page).includes(title)) return [];
      return [findingAt(page, 0, `is headed “${headingOf(page)}”; head it with the code's title: ${title}`)];
    }),
    ...pages
      .filter((page) => !codes.some(({ code }) => page.path === `docs/errors/${code}.md`))
      .map((page) => findingAt(page, 0, `describes a code that ${codesPath} does not have; remove the page`)),
  ];
};

function readErrorCodes(file: SourceFile | undefined) {
  if (!file) return [];
  const entries = file.text.matchAll(/^\s+(\w+):\s*\{\s*status:\s*\d+,\s*title:\s*(['"])(.*?)\2/gm);
  return [...entries].map((entry) => ({
    code: entry[1] ?? '',
    title: (entry[3] ?? '').replaceAll('\\', ''),
    finding: (message: string): Finding =>
      findingAt(file, entry.index + entry[0].search(/\S/), `${entry[1]} ${message}`),
  }));
}

function headingOf(page: SourceFile): string {
  return page.text.split('\n')[0]?.replace(/^#+\s*/, '') ?? '';
}

interface PackageFile {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

/** Packages are chosen, not collected: each has its line of reason. */
export const dependencyReasons: Rule = (files) => {
  const packageFile = files.find((file) => file.path === 'package.json');
  const reasons = files.find((file) => file.path === 'docs/dependencies.md');
  if (!packageFile || !reasons) return [];
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(packageFile.text) as PackageFile;
  const patterns = [...reasons.text.matchAll(/`(@?[\w./-]+)(\*?)`/g)].map((match) => ({
    name: match[1] ?? '',
    isPrefix: match[2] === '*',
  }));
  return Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })
    .filter(
      (name) => !patterns.some((pattern) => (pattern.isPrefix ? name.startsWith(pattern.name) : name === pattern.name)),
    )
    .map((name) =>
      findingAt(
        packageFile,
        packageFile.text.indexOf(`"${name}"`),
        `depends on ${name}; give the reason in docs/dependencies.md, with its name in backticks`,
      ),
    );
};
