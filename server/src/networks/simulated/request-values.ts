// The networks' limit.
const textLengthMax = 255;

/** Cutting may leave half a surrogate pair at the end, which strict JSON parsers refuse. */
export function truncated(text: string): string {
  return text.slice(0, textLengthMax).toWellFormed();
}
