// Keeps an open checkout page up to date. Everything also works without this script, by reloading.
(() => {
  // The interval of polling without a status stream, and the delay before a failed load is retried.
  const pollMs = 5000;
  let stream = null;
  let timer = 0;

  const main = () => document.querySelector('main');
  const page = () => main().dataset.page;
  const isLive = () => 'live' in main().dataset && !document.hidden;

  function listen() {
    stop();
    if (!isLive()) return;
    if (!window.EventSource) {
      void poll();
      return;
    }
    stream = new EventSource(page() + '/status');
    stream.onmessage = (event) => apply(event.data);
    // CLOSED means refused, for example because the server has reached its limit of streams.
    stream.onerror = () => stream.readyState === EventSource.CLOSED && poll();
  }

  function stop() {
    if (stream) stream.close();
    clearTimeout(timer);
  }

  function later(action) {
    clearTimeout(timer);
    timer = setTimeout(action, pollMs);
  }

  async function poll() {
    if (!isLive()) return;
    try {
      const res = await fetch(page() + '/status', { headers: { accept: 'text/plain' } });
      if (res.ok) await apply(await res.text());
    } catch (_error) {
      // Offline for a moment: the next poll follows.
    }
    if (isLive()) later(poll);
  }

  async function apply(state) {
    if (state === main().dataset.state) return;
    try {
      const res = await fetch(page(), { headers: { 'x-page-part': 'main' } });
      if (!res.ok) throw res;
      show(new DOMParser().parseFromString(await res.text(), 'text/html').querySelector('main'));
    } catch (_error) {
      later(() => apply(state));
    }
  }

  // Keeps values and focus of fields that the new part also has.
  function show(next) {
    const old = main();
    if (!next || next.dataset.state === old.dataset.state) return;
    const active = document.activeElement;
    const hadFocus = old.contains(active);
    for (const field of old.querySelectorAll('input:not([type=hidden])')) {
      const same = next.querySelector('#' + CSS.escape(field.id));
      if (!same) continue;
      if (field.type === 'radio') same.checked = field.checked;
      else same.value = field.value;
    }
    old.replaceWith(next);
    document.title = next.dataset.title;
    document.getElementById('live').textContent = next.dataset.title;
    const fieldToFocus = next.querySelector('[autofocus]');
    if (!hadFocus && fieldToFocus) fieldToFocus.focus();
    if (hadFocus) focusOn((active.id && document.getElementById(active.id)) || next.querySelector('#step'));
    showButtons();
    if (!isLive()) stop();
  }

  function focusOn(element) {
    if (element.id === 'step') element.tabIndex = -1;
    element.focus({ preventScroll: element.id !== 'step' });
  }

  // Shows the buttons that need scripts.
  function showButtons() {
    for (const button of document.querySelectorAll('[data-print]')) button.hidden = false;
  }

  const seenAt = new WeakMap();
  function ageMs(element) {
    if (!seenAt.has(element)) seenAt.set(element, performance.now());
    return performance.now() - seenAt.get(element);
  }

  // The time left, counted from when this part of the page was shown; the server's clock decides.
  function countDown() {
    const left = document.querySelector('[data-left-ms]');
    if (!left) return;
    const minutes = Math.max(1, Math.ceil((left.dataset.leftMs - ageMs(left)) / 60000));
    if (minutes <= 120) left.textContent = minutes + (minutes === 1 ? ' minute' : ' minutes');
  }

  // The running time since the payment, which a screenshot of a receipt does not have.
  function countUp() {
    const since = document.querySelector('[data-since-ms]');
    if (!since) return;
    const seconds = Math.floor((Number(since.dataset.sinceMs) + ageMs(since)) / 1000);
    const [count, noun] = seconds < 60 ? [seconds, 'second'] : [Math.floor(seconds / 60), 'minute'];
    if (seconds < 7200) since.textContent = count + ' ' + noun + (count === 1 ? '' : 's');
  }

  document.addEventListener('submit', (event) => {
    const button = event.target.querySelector('button:not([type=button])');
    if (!button) return;
    // A second press while the form is being sent must have no effect.
    if (button.getAttribute('aria-busy')) return event.preventDefault();
    button.setAttribute('aria-busy', 'true');
    stop();
  });
  document.addEventListener('click', (event) => {
    if (event.target.closest('[data-print]')) print();
  });
  // Phones suspend background pages: update at once when the payer comes back from the network's app.
  document.addEventListener('visibilitychange', listen);
  addEventListener('pagehide', stop);
  addEventListener('pageshow', (event) => {
    if (!event.persisted) return;
    for (const button of document.querySelectorAll('[aria-busy]')) button.removeAttribute('aria-busy');
    listen();
  });

  showButtons();
  countDown();
  setInterval(countDown, 10000);
  setInterval(countUp, 1000);
  listen();
})();
