/** What is shown of a key: enough to tell two apart, and of no use to who looks over a shoulder. */
export function maskKey(key: string): string {
  return `${key.slice(0, 'sk_test_'.length)}…${key.slice(-4)}`;
}
