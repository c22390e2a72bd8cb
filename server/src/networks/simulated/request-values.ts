// Every reference begins with the merchant's short id, which is also its account at the simulated networks.
const shortIdLength = 8;

export function accountOf(reference: string): string {
  return reference.slice(0, shortIdLength);
}

// The networks' limit.
const textLengthMax = 255;

/** Cutting may leave half a surrogate pair at the end, which strict JSON parsers refuse. */
export function truncated(text: string): string {
  return text.slice(0, textLengthMax).toWellFormed();
}
