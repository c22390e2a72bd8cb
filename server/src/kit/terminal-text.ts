// What a program prints may contain text from elsewhere, such as names and other servers' responses. Control characters in it
// could move the cursor, hide or overwrite what was printed, or reverse the direction of the line.

// The styles that these programs use; every other escape sequence is removed.
const ownStyles = String.raw`\u001b\[(?:1|2|22|31|32|33|39)m`;
const unsafe = new RegExp(`(${ownStyles})|[^\\P{C}\\n\\t]`, 'gu');

/** Text for a terminal without control characters, except line ends, tabs and the styles of these programs. */
export function printable(text: string): string {
  return text.replace(unsafe, (_, style: string | undefined) => style ?? '');
}

/** Text from elsewhere for use within a line: without line ends, styles and other control characters. */
export function sanitizeLine(text: string): string {
  return text.replaceAll(/\s+/gu, ' ').replaceAll(/\p{C}/gu, '');
}

/** The lines with a replacement character for each control character. */
export function markControls(text: string): string {
  return text.replaceAll(/[^\P{C}\n]/gu, '�');
}

/** JSON without control characters, for a terminal; it parses to the same value. */
export function printableJson(value: unknown, indent?: number): string {
  const escape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  // JSON escapes line ends in strings itself; the others are layout.
  return JSON.stringify(value, null, indent).replaceAll(/[^\P{C}\n]/gu, (character) =>
    character.split('').map(escape).join(''),
  );
}
