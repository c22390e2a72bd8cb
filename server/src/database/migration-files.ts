import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StartError } from '../kit/start-error.ts';

/** One file of the migrations folder, `NNNN-describes-itself.sql`. */
export interface Migration {
  number: number;
  /** `describes-itself` */
  name: string;
  text: string;
}

export const migrationsFolder = fileURLToPath(new URL('../../migrations/', import.meta.url));

const fileName = /^(\d{4})-([a-z0-9]+(?:-[a-z0-9]+)*)\.sql$/;
const transactionControl = /^\s*(BEGIN|START TRANSACTION|COMMIT|ROLLBACK)\s*;/im;

/**
 * The migrations in order. Other files of the folder, such as the schema snapshot, are ignored; a file that begins with a digit
 * and is not named as a migration is an error.
 */
export function readMigrations(folder: string): Migration[] {
  const migrations = readdirSync(folder)
    .filter((file) => /^\d/.test(file))
    .toSorted()
    .map((file) => readMigration(folder, file));
  const repeated = migrations.find(({ number }, index) => migrations[index - 1]?.number === number);
  if (repeated) throw new StartError(`Two migrations have the number ${repeated.number}; give one of them the next.`);
  return migrations;
}

/** `0001-first-payment` */
export function labelOf({ number, name }: Pick<Migration, 'number' | 'name'>): string {
  return `${String(number).padStart(4, '0')}-${name}`;
}

function readMigration(folder: string, file: string): Migration {
  const [, number, name] = fileName.exec(file) ?? [];
  if (!number || !name) throw new StartError(`The migration ${file} is not named NNNN-describes-itself.sql.`);
  const text = readFileSync(join(folder, file), 'utf8');
  if (!transactionControl.test(text)) return { number: Number(number), name, text };
  throw new StartError(`The migration ${file} begins or ends a transaction; each file already is one.`);
}
