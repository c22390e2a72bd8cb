/**
 * Checks the import levels of .dependency-cruiser.js. It fails on a violation, and also when it finds almost no modules: with
 * TypeScript 7 and without @swc/core dependency-cruiser finds nothing and would pass.
 */
import { join } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractConfiguration from 'dependency-cruiser/config-utl/extract-depcruise-config';

// Fewer mean that nothing could be parsed.
const modulesMin = 20;
const repository = join(import.meta.dirname, '..');

export interface ImportLevels {
  modules: number;
  violations: { from: string; to: string; rule: string; comment: string }[];
}

/** Checks folders of a source tree by the rules of this repository; paths are relative to `root`. */
export async function cruiseImports(root: string, folders: string[]): Promise<ImportLevels> {
  const { options, ...ruleSet } = await extractConfiguration(join(repository, '.dependency-cruiser.js'));
  const comments = new Map(ruleSet.forbidden?.map((rule) => [rule.name, rule.comment]));
  const { output } = await cruise(folders, { ...options, ruleSet, validate: true, baseDir: root });
  const { summary } = output as ICruiseResult;
  return {
    modules: summary.totalCruised,
    violations: summary.violations.map(({ from, to, rule }) => ({
      from,
      to,
      rule: rule.name,
      comment: comments.get(rule.name) ?? '',
    })),
  };
}

/** The problems of a tree. */
export function describeViolations({ modules, violations }: ImportLevels): string[] {
  const problems = violations.map(({ from, to, rule, comment }) => `${from} imports ${to} (${rule}). ${comment}`);
  if (modules < modulesMin) problems.push(`Only ${modules} modules were found. Is @swc/core installed?`);
  return problems;
}

if (import.meta.main) {
  const problems = describeViolations(
    await cruiseImports(repository, ['server/src', 'simulator', 'cli', 'test', 'tools', 'benchmarks']),
  );
  for (const problem of problems) console.log(problem);
  if (problems.length > 0) process.exitCode = 1;
}
