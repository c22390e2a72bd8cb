// A quoted text or name, a comment, a dollar-quoted text, or the end of a statement.
const tokens = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\w*)\$[\s\S]*?\$\1\$|;/g;

/** The statements of a migration. A cluster takes one at a time. */
export function splitStatements(text: string): string[] {
  const statements: string[] = [];
  let start = 0;
  for (const { 0: token, index } of text.matchAll(tokens)) {
    if (token !== ';') continue;
    statements.push(text.slice(start, index + 1).trim());
    start = index + 1;
  }
  const isStatement = (part: string) => part.replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\//g, '').trim() !== '';
  return [...statements, text.slice(start).trim()].filter(isStatement);
}
