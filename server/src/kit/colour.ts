// Colours are written `#rrggbb`.

/** Contrast of text that everybody can read (WCAG 2.2, success criterion 1.4.3). */
export const contrastMin = 4.5;

/** The contrast of two colours, 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((left, right) => left - right);
  return (lighter + 0.05) / (darker + 0.05);
}

/** `part` of the way from one colour to another, 0 to 1. */
export function mix(from: string, to: string, part: number): string {
  const mixed = channels(from).map((channel, index) => channel + ((channels(to)[index] ?? 0) - channel) * part);
  return `#${mixed.map((channel) => Math.round(channel).toString(16).padStart(2, '0')).join('')}`;
}

/** The colour itself, or the nearest one towards `end` that has this contrast with the background. */
export function withContrast(colour: string, { background, end }: { background: string; end: string }): string {
  const steps = 100;
  for (let step = 0; step < steps; step += 1) {
    const nearer = mix(colour, end, step / steps);
    if (contrast(nearer, background) >= contrastMin) return nearer;
  }
  return end;
}

function channels(colour: string): number[] {
  return [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16));
}

/** Relative luminance, 0 to 1, with the weights of WCAG 2.2. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
