import { html, type Html } from '../../kit/html.ts';
import type { PageContent } from '../document.ts';
import {
  bodySchemaOf,
  errorsOf,
  isWrappable,
  operationsByTag,
  recordName,
  scopeOf,
  successOf,
  type ApiDocument,
  type PlacedOperation,
  type Schema,
} from './api-document.ts';
import { curlExample } from './example-request.ts';
import { renderInline } from './markdown.ts';
import { referenceIntroduction } from './reference-introduction.ts';
import { referenceLayout } from './reference-layout.ts';
import { describeType, fieldsOf, withoutNull, type Field } from './schema-fields.ts';

export interface ReferenceOptions {
  /** The URL that the examples call, without a trailing slash. */
  baseUrl: string;
  /** The name of the webhook signature header. */
  signatureHeader: string;
}

/** The whole API on one page without a script: each operation with its parameters, response and errors. */
export function referencePage(document: ApiDocument, options: ReferenceOptions): PageContent {
  const groups = [...operationsByTag(document)];
  const records = Object.entries(document.components?.schemas ?? {});
  return {
    title: `${document.info.title} API reference`,
    refreshSeconds: null,
    body: referenceLayout({
      contents: contents(groups, records),
      body: html`<h1>${document.info.title} API reference</h1>
${referenceIntroduction(document, options)}
${groups.map(
  ([tag, operations]) => html`<section aria-labelledby="${tagId(tag)}">
<h2 id="${tagId(tag)}">${tag}</h2>
${operations.map((placed) => operationSection(placed, options))}
</section>`,
)}
<section aria-labelledby="records">
<h2 id="records">Records</h2>
<p>The objects in responses. New fields may be added to a record; existing fields are never removed.</p>
${records.map(([name, schema]) => recordSection(name, schema))}
</section>`,
    }),
  };
}

function contents(groups: readonly [string, PlacedOperation[]][], records: readonly [string, Schema][]): Html {
  const part = (
    id: string,
    words: string,
    links: readonly (readonly [string, string])[],
  ) => html`<p><a href="#${id}">${words}</a></p>
${
  links.length > 0 &&
  html`<ul>
${links.map(([anchor, name]) => html`<li><a href="#${anchor}">${name}</a></li>`)}
</ul>`
}
`;
  return html`<nav class="contents" aria-label="On this page">
${part('basics', 'Basics', [])}
${part('events', 'Events', [])}
${groups.map(([tag, operations]) =>
  part(
    tagId(tag),
    tag,
    operations.map(({ operation }) => [operation.operationId, operation.summary] as const),
  ),
)}
${part(
  'records',
  'Records',
  records.map(([name]) => [name, name] as const),
)}
</nav>`;
}

function operationSection(placed: PlacedOperation, options: ReferenceOptions): Html {
  const { method, path, operation } = placed;
  const body = bodySchemaOf(operation);
  return html`<article id="${operation.operationId}">
<h3>${operation.summary}${operation.deprecated && html` ${deprecatedMark}`}</h3>
<p class="address"><span class="method">${method}</span> <code>${path}</code></p>
<p class="scope">Scope <code>${scopeOf(operation)}</code></p>
${operation.description !== undefined && html`<p>${text(operation.description)}</p>`}
<pre tabindex="0"><code>${curlExample(placed, options.baseUrl)}</code></pre>
${fieldList('Parameters', parameterFields(placed))}
${body && fieldList(isWrappable(operation) ? 'Body, bare or inside data' : 'Body', fieldsOf(body))}
${responseSection(placed)}
${errors(placed)}
</article>`;
}

function parameterFields({ operation }: PlacedOperation): Field[] {
  return (operation.parameters ?? []).map((parameter) => ({
    path: parameter.name,
    type: `${describeType(withoutNull(parameter.schema).schema)}, in the ${parameter.in}`,
    record: null,
    isRequired: parameter.required ?? false,
    isDeprecated: parameter.schema.deprecated ?? false,
    description: parameter.description ?? '',
  }));
}

function responseSection({ operation }: PlacedOperation): Html {
  const { status, statusIfExisting, schema } = successOf(operation);
  const record = schema && recordName(schema);
  if (record) {
    const existingNote = html`, or <span class="status">${statusIfExisting}</span> with one that already existed`;
    return html`<p class="answer">Returns <span class="status">${status}</span> with a <a href="#${record}">${record}</a>${statusIfExisting !== null && existingNote}.</p>`;
  }
  return html`<p class="answer">Returns <span class="status">${status}</span></p>
${schema && fieldList('Response', fieldsOf(schema))}`;
}

function errors({ operation }: PlacedOperation): Html {
  const rows = errorsOf(operation).map(
    ({ status, codes }) => html`<li><span class="status">${status}</span>
<span>${codes.map((code) => html`<a href="/errors/${code}"><code>${code}</code></a> `)}</span></li>`,
  );
  return html`<details class="fold"><summary>Errors</summary><ul class="codes">${rows}</ul></details>`;
}

function recordSection(name: string, schema: Schema): Html {
  return html`<article id="${name}">
<h3>${name}</h3>
${fieldList(null, fieldsOf(schema))}
</article>`;
}

function fieldList(heading: string | null, fields: readonly Field[]): Html | null {
  if (fields.length === 0) return null;
  return html`${heading !== null && html`<h4>${heading}</h4>`}
<dl class="fields">
${fields.map(
  (
    field,
  ) => html`<div><dt><code>${field.path}</code> ${field.isRequired && heading !== null && heading !== 'Response' && html`<b class="required">required</b>`}${field.isDeprecated && html` ${deprecatedMark}`}</dt>
<dd><span class="type">${typeText(field)}</span>${field.description !== '' && html` <span>${text(field.description)}</span>`}</dd></div>`,
)}
</dl>`;
}

const deprecatedMark = html`<b class="deprecated">deprecated</b>`;

/** Links a record's name to its section. */
function typeText({ type, record }: Field): Html {
  if (record === null) return html`${type}`;
  const [before = '', ...after] = type.split(record);
  return html`${before}<a href="#${record}">${record}</a>${after.join(record)}`;
}

/** Links in descriptions show only their words, because their targets are files of the repository. */
function text(description: string): Html {
  return renderInline(description, () => null);
}

function tagId(tag: string): string {
  return tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}
