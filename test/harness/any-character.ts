import fc from 'fast-check';

const surrogates = { first: 0xd800, count: 0x800 };
const lastCodePoint = 0x10ffff;

/**
 * Any Unicode character, as `unit` of fast-check's strings. Its own unit `binary` is the same but first builds a list
 * of a million characters: two seconds of processor time and 100 MB in each process.
 */
export const anyCharacter = fc
  .nat(lastCodePoint - surrogates.count)
  .map((index) => String.fromCodePoint(index < surrogates.first ? index : index + surrogates.count));
