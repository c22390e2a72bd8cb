import assert from 'node:assert/strict';

/** Secrets that tests have, by their form or their text. */
const secrets = [
  /sk_(?:test|live)_[0-9A-Za-z]{20,}/,
  /\bwh_[\w+/=-]{20,}/,
  /\bBearer\s+[\w.-]{20,}/i,
  /-session=[\w-]{20,}/,
  /\$(?:argon2|scrypt)\w*\$/,
  /\b(?:f{64}|e{64})\b/,
  /postgres(?:ql)?:\/\/[^:@/\s]+:[^@/\s]+@/,
  /mango pirogue laterite drum/,
];

/** The payers' and recipients' numbers that tests use: 700 0001 and others that begin with 7, in any usual form. */
const numbers = [/(?<![\w.-])(?:\+?220 ?)?7\d{2} ?\d{4}(?![\w.-])/];

/** Nothing that the service has written for its operator, or sent to a merchant's server, has a secret. */
export function assertNoSecret(output: string, what: string, { withNumbers = false } = {}): void {
  for (const pattern of [...secrets, ...(withNumbers ? numbers : [])]) {
    const found = pattern.exec(output);
    if (found)
      assert.fail(`${what} has ${pattern}: ${output.slice(Math.max(0, found.index - 300), found.index + 100)}`);
  }
}

/** The same of metrics, whose values may look like a number of a phone. */
export function assertNoSecretMeasured(metrics: string): void {
  assertNoSecret(metrics.replace(/ \S+$/gm, ''), 'a metric', { withNumbers: true });
}
