/**
 * The constraints of a migration that have no name of their own, as `line 12: PRIMARY KEY`. The catalogue cannot tell:
 * PostgreSQL makes up a name for them. An unnamed EXCLUDE has crashed a sharded database's coordinator, and errors are
 * told apart by the constraint's name.
 */
export function findUnnamedConstraints(sql: string): string[] {
  const found: string[] = [];
  const text = blankOut(sql);
  // Whether a name has been given for the constraint that comes next, and whether a foreign key's REFERENCES is due.
  let isNamed = false;
  let isForeignKey = false;
  let isIndex = false;
  for (const match of text.matchAll(tokens)) {
    const word = match[0].toUpperCase().replace(/\s+/g, ' ');
    if (word === ';') [isNamed, isForeignKey, isIndex] = [false, false, false];
    else if (word === 'CREATE UNIQUE INDEX') isIndex = true;
    else if (word.startsWith('CONSTRAINT')) isNamed = true;
    else if (word === 'REFERENCES' && isForeignKey) isForeignKey = false;
    else if (!isIndex) {
      if (!isNamed) found.push(`line ${text.slice(0, match.index).split('\n').length}: ${word}`);
      isForeignKey = word === 'FOREIGN KEY';
      isNamed = false;
    }
  }
  return found;
}

// An index named in ADD CONSTRAINT … USING INDEX and a policy's WITH CHECK are not constraints of their own.
const tokens =
  /;|\bCREATE\s+UNIQUE\s+INDEX\b|\b(?<!DROP\s+|VALIDATE\s+|ALTER\s+|RENAME\s+|ON\s+)CONSTRAINT\b|\bPRIMARY\s+KEY\b|\bFOREIGN\s+KEY\b|\bREFERENCES\b|\bUNIQUE\b|(?<!WITH\s+)\bCHECK\b|\bEXCLUDE\b/gi;

/** Comments, strings, dollar-quoted bodies and quoted names become spaces, so that positions stay. */
function blankOut(sql: string): string {
  const pieces = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$)[\s\S]*?\1/g;
  return sql.replace(pieces, (piece) => piece.replace(/[^\n]/g, ' '));
}
