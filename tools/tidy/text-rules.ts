import { findMatches, type Rule, type SourceFile } from './finding.ts';

/** Notes to oneself: the thing is done, or it stands in the list of what is not. */
export const leftoverMarkers: Rule = (files) =>
  files
    .filter((file) => !isAboutTheRules(file))
    .flatMap((file) =>
      findMatches(
        file,
        file.text,
        /\b(?:TODO|FIXME|XXX|HACK)\b(?!-)/g,
        'leaves a note behind; do it, or write what is missing and why into the documentation',
      ),
    );

const localPaths = [
  /(?<![\w.:~/-])\/(?:home|root|Users|work|workspace)\/[\w.-]/g,
  /\bfile:\/\/\/(?:home|root|Users|work|workspace)\//g,
  /\bshared\/[\w-]+[.]md\b/g,
];

/** Whoever clones the repository has other folders. */
export const foreignPaths: Rule = (files) =>
  files
    .filter((file) => !isAboutTheRules(file))
    .flatMap((file) =>
      localPaths.flatMap((pattern) =>
        findMatches(
          file,
          file.text,
          pattern,
          'names a place that only one machine has; name it from the root of the repository',
        ),
      ),
    );

/** The rules and their tests hold what they look for. */
function isAboutTheRules(file: SourceFile): boolean {
  return file.path.startsWith('tools/tidy');
}
