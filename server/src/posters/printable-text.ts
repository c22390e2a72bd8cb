/** Whether the fonts have a glyph for the code point. */
export type CanDraw = (codePoint: number) => boolean;

/**
 * What of a text can be printed: without control characters, marks of direction and everything else that has no shape,
 * and without what the fonts lack (emoji, Arabic), which would print as empty boxes. What can be written another way is:
 * letters with separate accents as one letter, wide or stylised letters as plain ones. Spaces and line breaks become one
 * space. May leave nothing.
 */
export function printableText(text: string, canDraw: CanDraw): string {
  const written = Array.from(text.normalize('NFC').replaceAll(/\s+/gu, ' '), (character) =>
    canDrawCharacter(character, canDraw) ? character : compatibleSpelling(character, canDraw),
  );
  return written.join('').replaceAll(/ +/g, ' ').trim();
}

function compatibleSpelling(character: string, canDraw: CanDraw): string {
  const plain = Array.from(character.normalize('NFKC'));
  return plain.every((part) => canDrawCharacter(part, canDraw)) ? plain.join('') : '';
}

const shapeless = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]/u;

function canDrawCharacter(character: string, canDraw: CanDraw): boolean {
  return !shapeless.test(character) && canDraw(character.codePointAt(0) ?? 0);
}
