import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The words on a poster, by what they say. */
export interface PosterTexts {
  scan_to_pay: string;
  /** Stands before the seven digits. */
  code: string;
  /** Stands before the names of the networks. */
  pay_with: string;
  /** Stands before the address. */
  no_camera: string;
  /** On a poster of the test environment, so that nobody hangs it in a shop. */
  test: string;
}

/** One file of the folder `languages`; its name is the language's code. */
interface LanguageFile {
  /** The language's name in English. */
  name: string;
  /** True while its texts are still the English ones, kept for somebody who speaks the language to replace. */
  untranslated: boolean;
  texts: PosterTexts;
}

export const defaultLanguage = 'en';

const folder = join(import.meta.dirname, 'languages');

/** Every language there is a file for, by its code; a new file is a new language after the next start. */
export const languages: ReadonlyMap<string, LanguageFile> = new Map(
  readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .toSorted()
    .map((file) => [
      file.slice(0, -'.json'.length),
      JSON.parse(readFileSync(join(folder, file), 'utf8')) as LanguageFile,
    ]),
);

/** The texts of a language that has a file. */
export function textsOf(language: string): PosterTexts {
  const file = languages.get(language);
  if (!file) throw new Error(`there is no language file for ${language}`);
  return file.texts;
}
