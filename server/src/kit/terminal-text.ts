// What a program prints may hold text from elsewhere: a merchant's name, a network's answer, another server's. Control
// characters in it would move the cursor, hide or rewrite what was printed, or turn the direction of the line.

// The colours that our own programs use, and nothing else that a terminal obeys.
const ownStyles = String.raw`\u001b\[(?:1|2|22|31|32|33|39)m`;
const unsafe = new RegExp(`(${ownStyles})|[^\\P{C}\\n\\t]`, 'gu');

/** Text for a terminal without what a terminal would obey; line ends, tabs and our own colours stay. */
export function printable(text: string): string {
  return text.replace(unsafe, (_, style: string | undefined) => style ?? '');
}

/** Text from elsewhere that stands inside a line of ours: it begins no line and no colour of its own. */
export function sanitizeLine(text: string): string {
  return text.replaceAll(/\s+/gu, ' ').replaceAll(/\p{C}/gu, '');
}

/** Lines that stay as they are, but for a mark in the place of each character that a terminal would obey. */
export function markControls(text: string): string {
  return text.replaceAll(/[^\P{C}\n]/gu, '�');
}

/** JSON whose strings hold no character that a terminal would obey; programs read the same value from it. */
export function printableJson(value: unknown, indent?: number): string {
  const escape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  // Line ends in strings are escaped by JSON itself; the others are the layout.
  return JSON.stringify(value, null, indent).replaceAll(/[^\P{C}\n]/gu, (character) =>
    character.split('').map(escape).join(''),
  );
}
