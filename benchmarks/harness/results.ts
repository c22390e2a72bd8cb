import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Figure, Measured, Part } from './part.ts';
import { plot, type Bar } from './plot.ts';

const folder = join(import.meta.dirname, '..');
const resultsPath = join(folder, 'results.md');
const plotPath = join(folder, 'results.svg');

/** When and where a part was measured. */
export interface Occasion {
  date: string;
  machine: string;
  commit: string;
  command: string;
}

/** Replaces a part's section of the results; the others stay, each with its own date and commit. */
export function recordResults(parts: readonly Part[], part: Part, measured: Measured, occasion: Occasion): void {
  const sections = readSections();
  sections.set(part.name, section(part, measured, occasion));
  const inOrder = parts.flatMap(({ name }) => sections.get(name) ?? []);
  writeFileSync(resultsPath, `${head}\n${inOrder.join('\n')}`);
  writeFileSync(plotPath, plot(inOrder.flatMap(barsIn)));
}

const head = `# Benchmarks

Written by \`npm run bench\`, which starts what it needs and measures every part; \`npm run bench -- create\` (or another
part's name) measures one and leaves the other sections alone. Load generator, service and database share the machine,
so speeds say little about another one: compare the ratios.

![The figures below as bars](results.svg)
`;

function section(part: Part, { figures, bars }: Measured, { date, machine, commit, command }: Occasion): string {
  return `## ${part.title}

<!-- part ${part.name} ${JSON.stringify(bars)} -->

${part.description}

| Figure | Measured | Aim | |
| --- | --- | --- | --- |
${figures.map(tableRow).join('\n')}

${date}, commit ${commit}, \`${command}\`, on ${machine}.
`;
}

function tableRow({ label, value, aim }: Figure): string {
  if (aim === undefined) return `| ${label} | ${value} | | |`;
  return `| ${label} | ${value} | ${aim.text} | ${aim.isMet ? 'met' : '**missed**'} |`;
}

const mark = /^<!-- part (\S+) (.*) -->$/m;

/** The sections of earlier runs by the name of their part. */
function readSections(): Map<string, string> {
  const sections = new Map<string, string>();
  if (!existsSync(resultsPath)) return sections;
  for (const text of readFileSync(resultsPath, 'utf8').split(/^(?=## )/m)) {
    const name = mark.exec(text)?.[1];
    if (name !== undefined) sections.set(name, `${text.trimEnd()}\n`);
  }
  return sections;
}

function barsIn(text: string): Bar[] {
  return JSON.parse(mark.exec(text)?.[2] ?? '[]') as Bar[];
}
