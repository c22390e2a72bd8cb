import type { Scene, Shape } from './scene.ts';

/** Nothing in it was written by a merchant or payer: names are outlines, and a logo is pixels. */
export function writeSvg({ width, height, shapes }: Scene): string {
  const head = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`;
  return `${head}${shapes.map(element).join('')}</svg>\n`;
}

function element(shape: Shape): string {
  if (shape.kind === 'path') return `<path fill="${shape.fill}" d="${shape.path}"/>`;
  const { x, y, width, height } = shape.area;
  const data = Buffer.from(shape.png).toString('base64');
  return `<image x="${x}" y="${y}" width="${width}" height="${height}" href="data:image/png;base64,${data}"/>`;
}
