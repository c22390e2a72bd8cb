// Polls for changes of the simulated phone. Without JavaScript the page reloads itself.
(() => {
  const pollIntervalMs = 2000;
  const main = () => document.querySelector('main[data-page]');

  async function poll() {
    if (!document.hidden) {
      try {
        const response = await fetch(main().dataset.page, { headers: { 'x-page-part': 'main' } });
        if (response.ok)
          show(new DOMParser().parseFromString(await response.text(), 'text/html').querySelector('main'));
      } catch (_error) {
        // The next poll retries.
      }
    }
    setTimeout(() => void poll(), pollIntervalMs);
  }

  function show(next) {
    if (!next || next.dataset.state === main().dataset.state) return;
    main().replaceWith(next);
    document.getElementById('status').textContent = (next.querySelector('.prompt') || next).textContent;
  }

  if (main()) setTimeout(() => void poll(), pollIntervalMs);
})();
