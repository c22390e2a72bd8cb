import type { Html } from '../../kit/html.ts';

/** Something that needs a person. */
export interface Trouble {
  text: Html;
  detail: Html;
  /** The whole path. */
  href: string;
  /** Bututs that cannot move because of it; 0 where that is not known. */
  heldMinor: bigint;
  since: Date;
  /** True where nothing else counts before it is understood. */
  isFirst?: boolean;
}
