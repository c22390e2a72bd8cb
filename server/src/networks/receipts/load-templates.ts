import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { StartError, unreadableFile } from '../../kit/start-error.ts';
import { parseStrictJsonBytes } from '../../kit/strict-json.ts';
import type { ReceiptTemplate } from './match-message.ts';
import { readTemplates } from './read-templates.ts';

const ownFolder = fileURLToPath(new URL('templates', import.meta.url));
let ownTemplates: ReceiptTemplate[] | undefined;

/**
 * The templates of a folder of the operator's (setting RECEIPT_TEMPLATES), then those of this project: the first that fits a
 * message reads it. Throws StartError, which names the file.
 */
export function loadTemplates(operatorsFolder: string | null): ReceiptTemplate[] {
  ownTemplates ??= readFolder(ownFolder);
  return operatorsFolder === null ? ownTemplates : [...readFolder(operatorsFolder), ...ownTemplates];
}

function readFolder(folder: string): ReceiptTemplate[] {
  return listFiles(folder).flatMap((file) => {
    const path = join(folder, file);
    try {
      return readTemplates(parseStrictJsonBytes(readFileSync(path)));
    } catch (error) {
      throw new StartError(`RECEIPT_TEMPLATES: ${path}: ${(error as Error).message}.`);
    }
  });
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith('.json'))
      .toSorted();
  } catch (error) {
    throw new StartError(`RECEIPT_TEMPLATES: ${unreadableFile(folder, error)}`);
  }
}
