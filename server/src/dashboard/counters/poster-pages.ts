import { html, type Html } from '../../kit/html.ts';
import { english, findLanguage, languages } from '../../languages/languages.ts';
import { cleanText, foreignText } from '../../pages/page-text.ts';
import { posterFormats, type PosterFormat } from '../../posters/poster.ts';
import { pageSizes, posterSizes, type PosterSize } from '../../posters/sizes.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { readCounter } from './read-counter.ts';

const sizeTexts: Record<PosterSize, string> = {
  poster: 'Poster, 200 × 325 mm',
  a4: 'A4, 210 × 297 mm',
  a5: 'A5, 148 × 210 mm',
  a6: 'A6, 105 × 148 mm',
  sticker: 'Sticker, 100 × 100 mm',
};

const formatTexts: Record<PosterFormat, string> = {
  png: 'PNG, for screens and copy shops',
  pdf: 'PDF, to print',
  svg: 'SVG, for designers',
};

interface Choice {
  size: PosterSize;
  language: string;
}

function choiceOf({ size, language }: PageInput['query']): Choice {
  return {
    size: posterSizes.find((each) => each === size) ?? 'poster',
    language: (findLanguage(language ?? '') ?? english).code,
  };
}

const preview: DashboardRoute = {
  path: '/counters/:id/poster',
  action: 'counters.write',
  async handle(visit, { params, query }) {
    const counter = await readCounter(visit, params['id']);
    const choice = choiceOf(query);
    const path = `${visit.base}/counters/${counter.id}/poster`;
    const { widthPixels, heightPixels } = pageSizes[choice.size];
    const file = (format: PosterFormat, more = ''): string =>
      `${path}/file?size=${choice.size}&language=${choice.language}&format=${format}${more}`;
    return {
      title: `Poster of ${cleanText(counter.name)}`,
      body: html`<header class="head"><h1>Poster of ${foreignText(counter.name)}</h1></header>
<div class="columns"><section class="panel"><h2>Size and language</h2>${choiceForm(path, choice)}
<h2>Download ${sizeTexts[choice.size]}</h2>
<ul class="links">${posterFormats.map(
        (format) => html`<li><a href="${file(format)}" download>${formatTexts[format]}</a></li>`,
      )}</ul>
<p class="hint">Print it and hang it up where payers stand. Its QR code stays the same for ever.</p></section>
<figure class="panel poster"><img src="${file('svg', '&show=page')}" width="${widthPixels}" height="${heightPixels}"
alt="The poster: ${cleanText(counter.name)}, its QR code and its code ${counter.code}"></figure></div>
<p class="actions"><a href="${visit.base}/counters/${counter.id}">Back to the counter</a></p>`,
    };
  },
};

function choiceForm(path: string, { size, language }: Choice): Html {
  const select = (name: string, label: string, options: readonly (readonly [string, string])[], chosen: string): Html =>
    html`<div class="field"><label for="poster-${name}">${label}</label><select id="poster-${name}" name="${name}">${options.map(
      ([value, text]) => html`<option value="${value}" ${value === chosen && 'selected'}>${text}</option>`,
    )}</select></div>`;
  const sizes = posterSizes.map((value) => [value, sizeTexts[value]] as const);
  const tongues = languages.map(({ code, name }) => [code, name] as const);
  return html`<form method="get" action="${path}" class="stack">${select('size', 'Size', sizes, size)}
${select('language', 'Language', tongues, language)}<button class="button small plain">Show</button></form>`;
}

const file: DashboardRoute = {
  path: '/counters/:id/poster/file',
  action: 'counters.write',
  async handle(visit, { params, query }) {
    const { id } = await readCounter(visit, params['id']);
    const format = posterFormats.find((each) => each === query['format']) ?? 'png';
    const call = { params: { id }, query: { ...choiceOf(query), format } };
    const download = await visit.api.file('downloadVirtualTerminalPoster', call);
    return { download: { ...download, isInline: query['show'] === 'page' } };
  },
};

export const posterPages: readonly DashboardRoute[] = [preview, file];
