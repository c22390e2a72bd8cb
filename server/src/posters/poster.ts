import type { PosterTexts } from './poster-texts.ts';
import type { PosterSize } from './sizes.ts';

export const posterFormats = ['png', 'pdf', 'svg'] as const;

export type PosterFormat = (typeof posterFormats)[number];

/** Everything that determines how a poster looks; equal values give equal posters. */
export interface Poster {
  format: PosterFormat;
  size: PosterSize;
  merchantName: string;
  /** A PNG that passed `pngProblem`, or null. */
  logo: Uint8Array | null;
  terminalName: string;
  /** Seven digits. */
  code: string;
  qrCodeUrl: string;
  /** The connected networks, in the order in which the payer sees them. */
  networks: readonly PosterNetwork[];
  testMode: boolean;
  texts: PosterTexts;
  /** The code of the language in which `texts` are written. */
  language: string;
}

export interface PosterNetwork {
  id: string;
  displayName: string;
}

export const contentTypes: Record<PosterFormat, string> = {
  png: 'image/png',
  pdf: 'application/pdf',
  svg: 'image/svg+xml',
};
