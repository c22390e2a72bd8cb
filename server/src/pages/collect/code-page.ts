import { html } from '../../kit/html.ts';
import type { Language } from '../../languages/languages.ts';
import type { PageContent } from '../document.ts';
import { fieldError } from '../form-errors.ts';
import { layout } from '../layout.ts';

/**
 * Asks for the code of a poster, for a payer who cannot scan it. The form uses GET: it does nothing but open a page.
 * `refusedCode` is what was typed and opened no counter.
 */
export function codePage(path: string, language: Language, refusedCode: string | null): PageContent {
  const { t } = language;
  const isRefused = refusedCode !== null;
  return {
    title: t('code-page'),
    language: language.code,
    refreshSeconds: null,
    body: layout(
      html`<main class="card narrow collect">
<section class="step" aria-labelledby="step">
<h1 id="step">${t('code-page')}</h1>
<form action="${path}">
<div>
<label for="code">${t('code-page-field')}</label>
<input id="code" name="code" type="text" inputmode="numeric" autocomplete="off" maxlength="40" required value="${refusedCode}"${
        isRefused && html` aria-invalid="true"`
      } aria-describedby="${isRefused && 'code-error '}code-hint" autofocus>
${isRefused && fieldError('code', t('code-page-unknown'))}
<p class="hint" id="code-hint">${t('code-page-hint')}</p>
</div>
<button class="button">${t('go-on')}</button>
</form>
</section>
</main>`,
      language,
      isRefused ? String(new URLSearchParams({ code: refusedCode })) : '',
    ),
  };
}
