import type { Language } from '../languages/languages.ts';

/** The fixed texts of a poster. */
export interface PosterTexts {
  scanToPay: string;
  /** Before the seven digits. */
  code: string;
  /** Before the names of the networks. */
  payWith: string;
  /** Before the URL. */
  noCamera: string;
  /** On posters of the test environment, so that nobody hangs one up in a shop. */
  test: string;
}

export function posterTexts({ plain }: Language): PosterTexts {
  // The font has no non-breaking space, which French writes before a colon.
  const text = (key: string): string => plain(key).replaceAll('\u00a0', ' ');
  return {
    scanToPay: text('poster-scan'),
    code: text('poster-code'),
    payWith: text('poster-pay-with'),
    noCamera: text('poster-no-camera'),
    test: text('poster-test'),
  };
}
