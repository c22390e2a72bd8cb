/** A file of the repository: its path from the root, with slashes, and its text. */
export interface SourceFile {
  path: string;
  text: string;
}

export interface Finding {
  path: string;
  line: number;
  /** What is wrong and what to write instead. */
  message: string;
}

/** A rule sees the whole tree, because some rules compare files; it answers nothing when all is well. */
export type Rule = (files: readonly SourceFile[]) => Finding[];

/** A finding at the place where `offset` characters of the file have gone by. */
export function findingAt(file: SourceFile, offset: number, message: string): Finding {
  return { path: file.path, line: file.text.slice(0, offset).split('\n').length, message };
}

/** One finding for each match of the pattern, which must be global, in `text` (the file's own, or a blanked copy). */
export function findMatches(file: SourceFile, text: string, pattern: RegExp, message: string): Finding[] {
  return [...text.matchAll(pattern)].map((match) => findingAt(file, match.index, message));
}
