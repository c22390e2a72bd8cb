import fc from 'fast-check';

const surrogates = { first: 0xd800, count: 0x800 };
const lastCodePoint = 0x10ffff;

/**
 * Any character of Unicode, as `unit` of fast-check's strings. Its own unit `binary` is the same, but first lists all of a
 * million characters: two seconds of processor time and a hundred megabytes in each process.
 */
export const anyCharacter = fc
  .nat(lastCodePoint - surrogates.count)
  .map((index) => String.fromCodePoint(index < surrogates.first ? index : index + surrogates.count));
