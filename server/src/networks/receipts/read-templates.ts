import { Type, type Static } from 'typebox';
import { createSchemaCheck } from '../../api/schema-check.ts';
import { knownNetworks } from '../known-networks.ts';
import { matchMessage, type ReceiptTemplate } from './match-message.ts';

const networks = knownNetworks.map(({ id }) => Type.Literal(id));

const example = Type.Object(
  {
    message: Type.String({ minLength: 1, maxLength: 1_000 }),
    amount: Type.String({ maxLength: 20 }),
    transaction_id: Type.String({ maxLength: 64 }),
    payer_number: Type.Optional(Type.String({ maxLength: 40 })),
    payer_name: Type.Optional(Type.String({ maxLength: 80 })),
    balance: Type.Optional(Type.String({ maxLength: 20 })),
    time: Type.Optional(Type.String({ maxLength: 40 })),
  },
  { additionalProperties: false },
);

/** A file of templates: `templates/*.json`, and the operator's own in RECEIPT_TEMPLATES. */
const templateFile = Type.Object(
  {
    network: Type.Union(networks),
    /** What the network calls itself where the phone shows the sender; compared without regard to case. */
    senders: Type.Array(Type.String({ minLength: 1, maxLength: 20 }), { minItems: 1, maxItems: 10 }),
    /** False until somebody has compared the text with a real message. */
    confirmed: Type.Boolean(),
    templates: Type.Array(
      Type.Object(
        {
          name: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{1,39}$' }),
          /** The text with `{amount}`, `{transaction_id}` and the optional placeholders of `placeholders`. */
          text: Type.String({ minLength: 10, maxLength: 1_000 }),
          examples: Type.Array(example, { minItems: 1, maxItems: 20 }),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 50 },
    ),
  },
  { additionalProperties: false },
);

const isTemplateFile = createSchemaCheck(templateFile);

/**
 * Each placeholder's form. All are bounded and start with what the text before them cannot end with, and a template has at
 * most two free texts, so that no message makes matching slow.
 */
const placeholders: Readonly<Record<string, string>> = {
  amount: '(?<amount>\\d{1,3}(?:,\\d{3}){1,3}(?:\\.\\d{1,2})?|\\d{1,9}(?:\\.\\d{1,2})?)',
  balance: '(?<balance>-?(?:\\d{1,3}(?:,\\d{3}){1,3}(?:\\.\\d{1,2})?|\\d{1,12}(?:\\.\\d{1,2})?))',
  transaction_id: '(?<transaction_id>[0-9A-Za-z][0-9A-Za-z._-]{3,62}[0-9A-Za-z])',
  payer_number: '(?<payer_number>\\+?\\d[\\d ]{5,15}\\d)',
  payer_name: '(?<payer_name>\\S.{0,78}?)',
  time: '(?<time>\\d{1,4}[-/.]\\d{1,2}[-/.]\\d{1,4}[ T,]{1,2}\\d{1,2}:\\d{2}(?::\\d{2})?)',
  any: '.{0,160}?',
};
const requiredPlaceholders = ['amount', 'transaction_id'] as const;
const freeTexts = ['payer_name', 'any'];
const freeTextsMax = 2;

/** Thrown for a file that is no file of templates; the message says what to change. */
export class TemplateError extends Error {
  override name = 'TemplateError';
}

/** Parses a file of templates, and tries each template on its own examples. Throws TemplateError. */
export function readTemplates(file: unknown): ReceiptTemplate[] {
  if (!isTemplateFile(file)) {
    const [first] = isTemplateFile.errors ?? [];
    throw new TemplateError(`${first?.instancePath || 'the file'} ${first?.message ?? 'is not a file of templates'}`);
  }
  const { network, senders, confirmed } = file;
  return file.templates.map(({ name, text, examples }) => {
    const template = { name, network, senders, confirmed, pattern: patternOf(name, text) };
    for (const each of examples) tryExample(template, each);
    return template;
  });
}

function patternOf(name: string, text: string): RegExp {
  const parts = text.split(/\{(\w+)\}/);
  const used = parts.filter((_part, index) => index % 2 === 1);
  const problem = placeholderProblem(used);
  if (problem !== undefined) throw new TemplateError(`template ${name}: ${problem}`);
  const source = parts.map((part, index) => (index % 2 === 1 ? (placeholders[part] ?? '') : literal(part))).join('');
  return new RegExp(`^\\s*${source}\\s*$`, 'iu');
}

function placeholderProblem(used: readonly string[]): string | undefined {
  const unknown = used.find((placeholder) => !Object.hasOwn(placeholders, placeholder));
  if (unknown !== undefined) return `{${unknown}} is none of ${Object.keys(placeholders).join(', ')}`;
  const missing = requiredPlaceholders.find((placeholder) => !used.includes(placeholder));
  if (missing !== undefined) return `{${missing}} is missing`;
  const double = used.find((placeholder, index) => placeholder !== 'any' && used.indexOf(placeholder) !== index);
  if (double !== undefined) return `{${double}} stands twice`;
  const free = used.filter((placeholder) => freeTexts.includes(placeholder)).length;
  return free > freeTextsMax ? `it has more than ${freeTextsMax} of {payer_name} and {any}` : undefined;
}

/** Spaces match any white space, since phones and gateways change them. */
function literal(text: string): string {
  return text
    .split(/\s+/)
    .map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
    .join('\\s+');
}

function tryExample(template: ReceiptTemplate, { message, ...expected }: Static<typeof example>): void {
  const found = matchMessage([template], { network: template.network, sender: null, text: message });
  if (found === undefined) throw new TemplateError(`template ${template.name} does not match its example: ${message}`);
  for (const [field, value] of Object.entries(expected)) {
    const read = found.fields[field];
    if (read === value) continue;
    throw new TemplateError(`template ${template.name} reads ${field} ${read ?? '(nothing)'} and not ${value}`);
  }
}
