import assert from 'node:assert/strict';
import { findUntidiness } from '../tidy.ts';

const migration = `
  CREATE TABLE merchants (id uuid NOT NULL, CONSTRAINT merchants_pkey PRIMARY KEY (id));
  CREATE TABLE charges (
    merchant_id uuid NOT NULL,
    id uuid NOT NULL, -- not now()
    CONSTRAINT charges_pkey PRIMARY KEY (merchant_id, id)
  );
  CREATE TABLE simulator.sessions (merchant_id uuid NOT NULL, id uuid NOT NULL);
  CREATE TABLE notes (id uuid NOT NULL);
  ALTER TABLE notes ADD COLUMN merchant_id uuid NOT NULL;
`;

/** The findings in one file, beside the migration above, as `line message`. */
export function findingsIn(path: string, text: string, others: Record<string, string> = {}): string[] {
  const files = { 'server/migrations/0001-first.sql': migration, ...others, [path]: text };
  return findUntidiness(Object.entries(files).map(([name, content]) => ({ path: name, text: content }))).map(
    (finding) => `${finding.path}:${finding.line} ${finding.message}`,
  );
}

export function assertFound(path: string, text: string, line: number, message: RegExp): void {
  const findings = findingsIn(path, text);
  assert.equal(findings.length, 1, findings.join('\n') || 'nothing was found');
  assert.match(findings[0] ?? '', message);
  assert.ok(findings[0]?.startsWith(`${path}:${line} `), findings[0]);
}

export function assertClean(path: string, text: string): void {
  assert.deepEqual(findingsIn(path, text), []);
}

export const code = 'server/src/payments/create-payment.ts';
export const queries = 'server/src/payments/queries.ts';
export const next = 'server/migrations/0002-next.sql';
export const statement = (text: string, name = 'charges_find') => `db.run({ name: '${name}', text: \`${text}\` });\n`;
