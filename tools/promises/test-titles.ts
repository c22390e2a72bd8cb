/** A call that names a test or a suite, or the title of a crash story. */
const titled =
  /(?:\b(?:test|it|describe|suite|testEnd)(?:\.\w+)?\(|\btestCrashStory\(\{)\s*(?:title:\s*)?(['"`])((?:\\.|(?!\1)[\s\S])*)\1/g;

/** The titles of a test file as its source has them; what a template fills in is `…`. */
export function testTitles(source: string): Set<string> {
  return new Set([...source.matchAll(titled)].map(([, , title = '']) => withoutExpressions(title)));
}

function withoutExpressions(title: string): string {
  let result = '';
  let depth = 0;
  for (let index = 0; index < title.length; index += 1) {
    if (title.startsWith('${', index)) {
      if (depth === 0) result += '…';
      depth += 1;
      index += 1;
    } else if (depth === 0) result += title[index];
    else if (title[index] === '{') depth += 1;
    else if (title[index] === '}') depth -= 1;
  }
  return result.replaceAll(/\\(['"`])/g, '$1');
}
