// The merchant's short id leads every reference and is the name of its account at the simulated networks.
const shortIdLength = 8;

export function accountOf(reference: string): string {
  return reference.slice(0, shortIdLength);
}

// The networks' limit.
const textLengthMax = 255;

/** Cutting may leave half a character at the end, which no JSON reader of care takes. */
export function truncated(text: string): string {
  return text.slice(0, textLengthMax).toWellFormed();
}
