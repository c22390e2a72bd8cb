import { html, type Html } from '../../kit/html.ts';

/** The target of a link on this site, or null to show only its words. */
export type LinkTarget = (address: string) => string | null;

/**
 * Renders the Markdown of the error pages and the API's descriptions: headings, paragraphs, lists and fenced code; inline code,
 * bold and links. Everything else shows as it was typed, escaped.
 */
export function renderMarkdown(text: string, linkTarget: LinkTarget): Html {
  return html`${readBlocks(text.split('\n')).map((block) => renderBlock(block, linkTarget))}`;
}

/** Renders inline Markdown only. */
export function renderInline(text: string, linkTarget: LinkTarget): Html {
  const parts: Html[] = [];
  let offset = 0;
  for (const match of text.matchAll(/`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(([^)\s]+)\)/g)) {
    parts.push(html`${text.slice(offset, match.index)}`, renderSpan(match, linkTarget));
    offset = match.index + match[0].length;
  }
  return html`${parts}${text.slice(offset)}`;
}

type Block =
  | { kind: 'heading'; level: number; text: string }
  | { kind: 'paragraph'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'list'; isOrdered: boolean; items: string[] };

function readBlocks(lines: readonly string[]): Block[] {
  const blocks: Block[] = [];
  let start = 0;
  while (start < lines.length) {
    const line = lines[start] ?? '';
    const { block, next } = line.startsWith('```') ? readCode(lines, start) : readText(lines, start);
    if (block !== null) blocks.push(block);
    start = next;
  }
  return blocks;
}

interface ReadBlock {
  block: Block | null;
  next: number;
}

function readCode(lines: readonly string[], start: number): ReadBlock {
  const end = lines.findIndex((line, index) => index > start && line.startsWith('```'));
  const last = end === -1 ? lines.length : end;
  return { block: { kind: 'code', text: lines.slice(start + 1, last).join('\n') }, next: last + 1 };
}

function readText(lines: readonly string[], start: number): ReadBlock {
  const line = lines[start] ?? '';
  if (line.trim() === '') return { block: null, next: start + 1 };
  const heading = /^(#{1,4}) (.+)$/.exec(line);
  if (heading) {
    const block = { kind: 'heading', level: heading[1]?.length ?? 1, text: heading[2] ?? '' } as const;
    return { block, next: start + 1 };
  }
  const end = lines.findIndex((later, index) => index > start && /^\s*$|^#|^```/.test(later));
  const next = end === -1 ? lines.length : end;
  const own = lines.slice(start, next);
  return { block: /^(-|\d+\.) /.test(line) ? readList(own) : { kind: 'paragraph', text: own.join(' ') }, next };
}

/** Indented lines continue an item. */
function readList(lines: readonly string[]): Block {
  const items: string[] = [];
  for (const line of lines) {
    const item = /^(?:-|\d+\.) (.*)$/.exec(line);
    if (item) items.push(item[1] ?? '');
    else items.push(`${items.pop() ?? ''} ${line.trim()}`);
  }
  return { kind: 'list', isOrdered: /^\d/.test(lines[0] ?? ''), items };
}

function renderBlock(block: Block, linkTarget: LinkTarget): Html {
  switch (block.kind) {
    case 'heading':
      return block.level === 1
        ? html`<h1>${renderInline(block.text, linkTarget)}</h1>`
        : html`<h2>${renderInline(block.text, linkTarget)}</h2>`;
    case 'paragraph':
      return html`<p>${renderInline(block.text, linkTarget)}</p>`;
    case 'code':
      return html`<pre tabindex="0"><code>${block.text}</code></pre>`;
    case 'list': {
      const items = block.items.map((item) => html`<li>${renderInline(item, linkTarget)}</li>`);
      return block.isOrdered ? html`<ol>${items}</ol>` : html`<ul>${items}</ul>`;
    }
  }
}

function renderSpan(match: RegExpExecArray, linkTarget: LinkTarget): Html {
  const [, code, bold, words, address] = match;
  if (code !== undefined) return html`<code>${code}</code>`;
  if (bold !== undefined) return html`<b>${bold}</b>`;
  const target = linkTarget(address ?? '');
  return target === null ? html`${words}` : html`<a href="${target}">${words}</a>`;
}
