import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The fixed texts of a poster. */
export interface PosterTexts {
  scan_to_pay: string;
  /** Before the seven digits. */
  code: string;
  /** Before the names of the networks. */
  pay_with: string;
  /** Before the URL. */
  no_camera: string;
  /** On posters of the test environment, so that nobody hangs one up in a shop. */
  test: string;
}

/** A file in the folder `languages`, named by the language's code. */
interface LanguageFile {
  /** The language's name in English. */
  name: string;
  /** True while its texts are still the English ones. */
  untranslated: boolean;
  texts: PosterTexts;
}

export const defaultLanguage = 'en';

const folder = join(import.meta.dirname, 'languages');

/** The languages by their code. A new file adds a language at the next start. */
export const languages: ReadonlyMap<string, LanguageFile> = new Map(
  readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .toSorted()
    .map((file) => [
      file.slice(0, -'.json'.length),
      JSON.parse(readFileSync(join(folder, file), 'utf8')) as LanguageFile,
    ]),
);

/** The texts, and the language in which they are written. Throws for a language without a file. */
export function textsOf(language: string): { texts: PosterTexts; language: string } {
  const file = languages.get(language);
  if (!file) throw new Error(`there is no language file for ${language}`);
  return { texts: file.texts, language: file.untranslated ? defaultLanguage : language };
}
