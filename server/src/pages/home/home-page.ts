import { html } from '../../kit/html.ts';
import type { PageContent } from '../document.ts';
import { icon } from '../icons.ts';
import { layout } from '../layout.ts';

/** For whoever opens the bare address: what answers here, that it runs, and where to go on. */
export function homePage({ offersPhone }: { offersPhone: boolean }): PageContent {
  return {
    title: 'Dalasi',
    refreshSeconds: null,
    body: layout(html`<main class="card narrow">
<section class="step ended" aria-labelledby="step">
<p class="seal good">${icon('check')}</p>
<h1 id="step">Dalasi is running</h1>
<p>This is a mobile-money payments service. If you came here to pay, open the link that the shop gave you.</p>
<p><a class="button" href="/docs">API reference</a></p>
${offersPhone && html`<p><a class="button plain" href="/simulator/phone">${icon('phone')}<span>Simulated phone</span></a></p>`}
</section>
</main>`),
  };
}
