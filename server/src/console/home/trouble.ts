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
  /** Before what is weighed by money: 2 where nothing else counts before it is understood, 1 where money stands still or is refused. */
  urgency?: 1 | 2;
}
