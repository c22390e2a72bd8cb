/**
 * The check of the import levels in .dependency-cruiser.js. It fails on a violation, and also when it finds next to no
 * modules: with TypeScript 7 and without @swc/core the cruise sees nothing and would pass in silence.
 */
import { join } from 'node:path';
import { cruise } from 'dependency-cruiser';
import type { ICruiseResult } from 'dependency-cruiser';
import extractConfiguration from 'dependency-cruiser/config-utl/extract-depcruise-config';

// The service has more files than this from its first day on; fewer mean that nothing could be read.
const modulesMin = 20;
const repository = join(import.meta.dirname, '..');

export interface ImportLevels {
  modules: number;
  violations: { from: string; to: string; rule: string; comment: string }[];
}

/** Cruises folders of a source tree by the rules of this repository; `root` is where the paths start. */
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

/** What the check says about a tree; nothing when all is well. */
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
