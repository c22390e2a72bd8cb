import { timingSafeEqual } from 'node:crypto';

/** Compares secrets in constant time. */
export function isSameText(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
