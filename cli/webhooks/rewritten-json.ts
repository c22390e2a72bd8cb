// The order in which the service writes an event.
const envelopeOrder = ['id', 'event', 'created_at', 'test_mode', 'sequence', 'request_id', 'data', 'payload'];
// Events are a few levels deep; this only keeps a strange body from exhausting the stack.
const depthMax = 100;

type Node =
  | { kind: 'leaf'; text: string }
  | { kind: 'array'; items: Node[] }
  | { kind: 'object'; members: { name: string; value: Node }[] };

interface Form {
  strings: boolean;
  numbers: boolean;
  order: boolean;
}

/** A text that the service may have written, and what somebody else wrote otherwise. */
export interface ServiceForm {
  text: string;
  changed: string;
}

/**
 * What the service would have written for this JSON, as far as that can be found out: without spaces, with only the
 * necessary escapes, with short numbers, and with the names of an event in their order. Each step is tried alone and
 * together with the ones before it, because who writes again changes some of it. Empty for what is no JSON.
 */
export function serviceForms(text: string): ServiceForm[] {
  const tree = readTree(text);
  if (!tree) return [];
  const forms = [
    { strings: false, numbers: false, order: false },
    { strings: false, numbers: false, order: true },
    { strings: true, numbers: false, order: false },
    { strings: true, numbers: false, order: true },
    { strings: true, numbers: true, order: false },
    { strings: true, numbers: true, order: true },
  ].map((form) => ({ text: write(tree, form), changed: changesBy(tree, text, form) }));
  return forms.filter((form, place) => {
    const isFirst = forms.findIndex((other) => other.text === form.text) === place;
    return isFirst && form.text !== text;
  });
}

/** What in this text the service would have written otherwise; null when nothing, or when it is no JSON. */
export function signsOfRewriting(text: string): string | null {
  return serviceForms(text).at(-1)?.changed ?? null;
}

function changesBy(tree: Node, text: string, form: Form): string {
  const plain = { strings: false, numbers: false, order: false };
  const compact = write(tree, plain);
  const changes = [
    ...(compact === text ? [] : ['spaces']),
    ...(form.strings && write(tree, { ...plain, strings: true }) !== compact ? ['escapes in texts'] : []),
    ...(form.numbers && write(tree, { ...plain, numbers: true }) !== compact ? ['the form of numbers'] : []),
    ...(form.order && write(tree, { ...plain, order: true }) !== compact ? ['the order of names'] : []),
  ];
  return `${changes.join(', ')} changed.`;
}

function readTree(text: string): Node | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const tokens = text.match(/"(?:[^"\\]+|\\.)*"|[-+.\w]+|[{}[\],:]/g) ?? [];
  return readNode(tokens.values(), 0);
}

/** The text is JSON, so that each token is one that may stand there. */
function readNode(tokens: Iterator<string, undefined>, depth: number, first = tokens.next().value): Node | undefined {
  if (first === undefined || depth > depthMax) return undefined;
  if (first !== '{' && first !== '[') return { kind: 'leaf', text: first };
  const items: Node[] = [];
  const members: { name: string; value: Node }[] = [];
  const end = first === '{' ? '}' : ']';
  for (let token = tokens.next().value; token !== end; token = tokens.next().value) {
    if (token === ',') token = tokens.next().value;
    if (token === undefined) return undefined;
    if (first === '{') tokens.next();
    const value = first === '{' ? readNode(tokens, depth + 1) : readNode(tokens, depth + 1, token);
    if (!value) return undefined;
    if (first === '{') members.push({ name: token, value });
    else items.push(value);
  }
  return first === '{' ? { kind: 'object', members } : { kind: 'array', items };
}

function write(node: Node, form: Form): string {
  if (node.kind === 'leaf') return writeLeaf(node.text, form);
  const inner = { ...form, order: false };
  if (node.kind === 'array') return `[${node.items.map((item) => write(item, inner)).join(',')}]`;
  const members = form.order ? inEnvelopeOrder(node.members) : node.members;
  return `{${members.map(({ name, value }) => `${writeLeaf(name, form)}:${write(value, inner)}`).join(',')}}`;
}

function writeLeaf(text: string, form: Form): string {
  if (text.startsWith('"')) return form.strings ? JSON.stringify(JSON.parse(text)) : text;
  return form.numbers && /^[-\d]/.test(text) ? shortNumber(text) : text;
}

/** Without zeros that say nothing, and without losing a digit. */
function shortNumber(text: string): string {
  return /e/i.test(text) ? String(Number(text)) : text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
}

function inEnvelopeOrder<Member extends { name: string }>(members: readonly Member[]): Member[] {
  const place = ({ name }: Member): number => {
    const known = envelopeOrder.indexOf(JSON.parse(name) as string);
    return known === -1 ? envelopeOrder.length : known;
  };
  return members.toSorted((left, right) => place(left) - place(right));
}
