import { timingSafeEqual } from 'node:crypto';

/** Whether two texts are the same; how long it takes does not tell where they differ. For what only few may know. */
export function isSameText(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
