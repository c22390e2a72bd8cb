/** What a browser without scripts knows of a page. */
export interface Page {
  status: number;
  text: string;
  forms: readonly PageForm[];
}

export interface PageForm {
  action: string;
  /** The values of its hidden fields. */
  hidden: Readonly<Record<string, string>>;
  /** The names of the fields to fill in. */
  fields: readonly string[];
  /** What they hold when the page comes. */
  filled: Readonly<Record<string, string>>;
  /** What its lists offer. */
  options: Readonly<Record<string, readonly string[]>>;
  /** The networks to choose from; empty where none is. */
  networks: readonly string[];
}

/** A form without an address posts to that of its page. */
export function readPage(path: string, status: number, text: string): Page {
  const forms = [...text.matchAll(/<form method="post"([^>]*)>(.*?)<\/form>/gs)];
  const addressOf = (attributes: string): string => unescaped(/\baction="([^"]+)"/.exec(attributes)?.[1] ?? path);
  return { status, text, forms: forms.map(([, start = '', body = '']) => readForm(addressOf(start), body)) };
}

function readForm(action: string, body: string): PageForm {
  const inputs = [...body.matchAll(/<input\b([^>]*)>/g)].map(([, text = '']) => readInput(text));
  const hidden = inputs.filter(({ type }) => type === 'hidden').map(({ name, value }) => [name, value] as const);
  const radios = inputs.filter(({ type, name }) => type === 'radio' && name === 'network');
  const options = readLists(body);
  const shown = inputs.filter(({ type, name }) => type !== 'hidden' && name !== '');
  const filled = shown.filter(({ type, isTicked }) => type !== 'radio' && (type !== 'checkbox' || isTicked));
  return {
    ...{ action, hidden: Object.fromEntries(hidden), fields: shown.map(({ name }) => name) },
    filled: { ...readChosen(body), ...Object.fromEntries(filled.map(({ name, value }) => [name, value])) },
    ...{ options, networks: [...radios.map(({ value }) => value), ...(options['network'] ?? [])] },
  };
}

function readLists(body: string): Record<string, string[]> {
  const lists = [...body.matchAll(/<select\b[^>]*\bname="([^"]+)"[^>]*>(.*?)<\/select>/gs)];
  const valuesOf = (text: string): string[] =>
    [...text.matchAll(/<option\b[^>]*\bvalue="([^"]+)"/g)].map(([, value = '']) => value);
  return Object.fromEntries(lists.map(([, name = '', text = '']) => [name, valuesOf(text)]));
}

/** What its lists and areas hold when the page comes: of a list that has no choice yet, the first one. */
function readChosen(body: string): Record<string, string> {
  const lists = [...body.matchAll(/<select\b[^>]*\bname="([^"]+)"[^>]*>(.*?)<\/select>/gs)];
  const areas = [...body.matchAll(/<textarea\b[^>]*\bname="([^"]+)"[^>]*>(.*?)<\/textarea>/gs)];
  const chosen = lists.map(([, name = '', text = '']) => {
    const options = [...text.matchAll(/<option\b([^>]*)>/g)].map(([, attributes = '']) => attributes);
    const option = options.find((attributes) => /\bselected\b/.test(attributes)) ?? options[0] ?? '';
    return [name, unescaped(/\bvalue="([^"]*)"/.exec(option)?.[1] ?? '')] as const;
  });
  return Object.fromEntries([...chosen, ...areas.map(([, name = '', text = '']) => [name, unescaped(text)] as const)]);
}

function readInput(text: string): { type: string; name: string; value: string; isTicked: boolean } {
  const attribute = (name: string) => unescaped(new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1] ?? '');
  const isTicked = /\schecked\b/.test(text);
  return { type: attribute('type'), name: attribute('name'), value: attribute('value'), isTicked };
}

function unescaped(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
