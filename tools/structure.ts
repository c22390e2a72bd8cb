/**
 * Draws the parts of the service and who imports whom, from the imports themselves.
 *
 *     node tools/structure.ts      writes docs/images/structure.svg
 *
 * A test fails while the picture is not what the imports say.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const repository = join(import.meta.dirname, '..');
const sources = 'server/src/';

interface Part {
  name: string;
  imports: Set<string>;
}

/** The picture: a row for each level, the top one first; lines lead down to what a part imports. */
export async function structurePicture(): Promise<string> {
  const parts = readParts();
  // Plain JavaScript, because the tool that reads it knows nothing else.
  const { levels } = (await import(join(repository, '.dependency-cruiser.js'))) as { levels: string[][] };
  const rows = [topLevel(parts, levels), ...levels.toReversed()].map((row) => row.filter((name) => parts.has(name)));
  const ordered = untangle(rows, parts);
  const position = new Map<string, Point>();
  for (const [row, names] of ordered.entries()) {
    for (const [name, point] of pointsOf(row, names)) position.set(name, point);
  }
  const lines = [...parts.values()].flatMap((part) =>
    neededImports(part, parts).map((imported) => lineBetween(position.get(part.name), position.get(imported))),
  );
  const boxes = [...parts.values()].map((part) => box(part, position.get(part.name)));
  const height = ordered.length * rowHeight + 2 * margin - (rowHeight - boxHeight);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif">
  <title>Parts of the service: each imports only from rows below its own</title>
  <rect width="${width}" height="${height}" fill="#ffffff"/>
  <g stroke="#9db5a7" stroke-width="1.2" fill="none">
${lines.filter((line) => line !== '').join('\n')}
  </g>
${boxes.join('\n')}
</svg>
`;
}

/** Folders of server/src, and what their product code imports of each other. */
function readParts(): Map<string, Part> {
  const parts = new Map<string, Part>();
  for (const file of globSync(`${sources}*/**/*.ts`, { cwd: repository })) {
    if (/[.](test|corpus)[.]ts$/.test(file)) continue;
    const text = readFileSync(join(repository, file), 'utf8');
    const name = partOf(file);
    const part = parts.get(name) ?? { name, imports: new Set() };
    parts.set(name, part);
    for (const [, path = ''] of text.matchAll(/from '([.]{1,2}\/[^']+)'/g)) {
      const imported = join(dirname(file), path);
      const isPart = imported.startsWith(sources) && imported.slice(sources.length).includes('/');
      if (isPart && partOf(imported) !== name) part.imports.add(partOf(imported));
    }
  }
  return parts;
}

function partOf(file: string): string {
  return file.slice(sources.length).split('/')[0] ?? '';
}

/** The folders that the table of levels does not name are above all of it. */
function topLevel(parts: ReadonlyMap<string, Part>, levels: readonly string[][]): string[] {
  return [...parts.keys()].filter((name) => !levels.flat().includes(name)).toSorted();
}

/** Without imports that lead there through another part as well: the picture would be unreadable. */
function neededImports(part: Part, parts: ReadonlyMap<string, Part>): string[] {
  const direct = [...part.imports].toSorted();
  return direct.filter((name) => !direct.some((other) => other !== name && reaches(other, name, parts)));
}

function reaches(name: string, target: string, parts: ReadonlyMap<string, Part>): boolean {
  const seen = new Set([name]);
  for (const reached of seen) for (const next of parts.get(reached)?.imports ?? []) seen.add(next);
  return name !== target && seen.has(target);
}

/** Orders each row by the average position of what it imports, from the bottom up, so that few lines cross. */
function untangle(rows: readonly string[][], parts: ReadonlyMap<string, Part>): string[][] {
  const middle = new Map<string, number>();
  const ordered: string[][] = [];
  for (const row of rows.toReversed()) {
    const weight = (name: string): number => {
      const below = [...(parts.get(name)?.imports ?? [])].flatMap((imported) => middle.get(imported) ?? []);
      return below.length === 0 ? 0.5 : below.reduce((sum, value) => sum + value, 0) / below.length;
    };
    const names = row.toSorted((left, right) => weight(left) - weight(right) || (left < right ? -1 : 1));
    for (const [index, name] of names.entries()) middle.set(name, (index + 0.5) / names.length);
    ordered.unshift(names);
  }
  return ordered;
}

interface Point {
  x: number;
  y: number;
}

// Wide enough for the boxes of the longest row.
const width = 1_240;
const margin = 20;
const boxHeight = 30;
const rowHeight = 84;

/** The same space between the boxes of a row, however long their names are. */
function pointsOf(row: number, names: readonly string[]): Map<string, Point> {
  const free = names.reduce((rest, name) => rest - boxWidth(name), width - 2 * margin);
  const points = new Map<string, Point>();
  let left = margin;
  for (const name of names) {
    const share = boxWidth(name) + free / names.length;
    points.set(name, { x: left + share / 2, y: margin + row * rowHeight });
    left += share;
  }
  return points;
}

function boxWidth(name: string): number {
  return Math.max(72, name.length * 8 + 20);
}

function lineBetween(upper: Point | undefined, lower: Point | undefined): string {
  if (!upper || !lower) return '';
  const [start, end] = [upper.y + boxHeight, lower.y];
  const bend = Math.round((end - start) / 2);
  return `    <path d="M${round(upper.x)} ${start}C${round(upper.x)} ${start + bend} ${round(lower.x)} ${end - bend} ${round(lower.x)} ${end}"/>`;
}

function box({ name }: Part, position: Point | undefined): string {
  if (!position) return '';
  const wide = boxWidth(name);
  return `  <g transform="translate(${round(position.x)} ${position.y})" text-anchor="middle">
    <rect x="${-wide / 2}" width="${wide}" height="${boxHeight}" rx="8" fill="#eef5f0" stroke="#1f6b4a"/>
    <text y="20" font-size="14" fill="#10221b">${name}</text>
  </g>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

if (import.meta.main) writeFileSync(join(repository, 'docs/images/structure.svg'), await structurePicture());
