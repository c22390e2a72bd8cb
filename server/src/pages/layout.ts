import { html, type Html } from '../kit/html.ts';
import { languages, type Language } from '../languages/languages.ts';
import type { PageContent } from './document.ts';
import { icon, type IconName } from './icons.ts';

/**
 * The frame of every page. With a language, links to the others follow the page; `query` is what they carry over of its address, such
 * as `correct=1`.
 */
export function layout(body: Html, language: Language | null = null, query = ''): Html {
  return html`<div class="page">
${body}
${language !== null && languageLinks(language, query)}
</div>`;
}

/** A link opens the same page; `page-language.ts` remembers the choice. */
function languageLinks({ code: current, t }: Language, query: string): Html {
  const start = query && `${query}&`;
  return html`<nav class="languages" aria-label="${t('languages')}">
${languages.map(({ code, name }) =>
  code === current
    ? html`<span lang="${code}" aria-current="true">${name}</span>`
    : html`<a href="?${start}lang=${code}" lang="${code}">${name}</a>`,
)}
</nav>`;
}

export function testRibbon({ t }: Language): Html {
  return html`<header class="ribbon"><p>${t('test-mode')}</p></header>`;
}

export interface Message {
  heading: Html | string;
  /** The tab's title; the heading by default. */
  title?: Html | string;
  icon: IconName;
  tone?: 'calm' | 'good';
  body: Html;
}

/** A page with one message and nothing to fill in; in English without a language. */
export function messagePage(message: Message, language: Language | null = null): PageContent {
  const { heading, title = heading, icon: iconName, tone = 'calm', body } = message;
  return {
    title,
    ...(language && { language: language.code }),
    moreStyle: 'ended',
    refreshSeconds: null,
    body: layout(
      html`<main class="card narrow">
<section class="step ended" aria-labelledby="step">
<p class="seal ${tone}">${icon(iconName)}</p>
<h1 id="step">${heading}</h1>
${body}
</section>
</main>`,
      language,
    ),
  };
}
