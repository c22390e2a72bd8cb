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
  /** The networks to choose from; empty where none is. */
  networks: readonly string[];
}

export function readPage(status: number, text: string): Page {
  const forms = [...text.matchAll(/<form method="post" action="([^"]+)">(.*?)<\/form>/gs)];
  return { status, text, forms: forms.map(([, action = '', body = '']) => readForm(unescaped(action), body)) };
}

function readForm(action: string, body: string): PageForm {
  const inputs = [...body.matchAll(/<input\b([^>]*)>/g)].map(([, text = '']) => readInput(text));
  const hidden = inputs.filter(({ type }) => type === 'hidden').map(({ name, value }) => [name, value] as const);
  const radios = inputs.filter(({ type, name }) => type === 'radio' && name === 'network');
  const fields = inputs.filter(({ type, name }) => type !== 'hidden' && name !== '').map(({ name }) => name);
  return { action, hidden: Object.fromEntries(hidden), fields, networks: radios.map(({ value }) => value) };
}

function readInput(text: string): { type: string; name: string; value: string } {
  const attribute = (name: string) => unescaped(new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1] ?? '');
  return { type: attribute('type'), name: attribute('name'), value: attribute('value') };
}

function unescaped(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
