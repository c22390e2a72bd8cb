import type { PosterTexts } from './languages.ts';
import type { PosterSize } from './sizes.ts';

export const posterFormats = ['png', 'pdf', 'svg'] as const;

export type PosterFormat = (typeof posterFormats)[number];

/** Everything that decides how a poster looks: two that are equal are the same poster. */
export interface Poster {
  format: PosterFormat;
  size: PosterSize;
  merchantName: string;
  /** A PNG that was checked, or null. */
  logo: Uint8Array | null;
  terminalName: string;
  /** Seven digits. */
  code: string;
  qrCodeUrl: string;
  /** The networks that are on, in the order in which a payer is offered them. */
  networks: readonly PosterNetwork[];
  testMode: boolean;
  texts: PosterTexts;
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
