// Keeps an open checkout page up to date. Everything also works without this script, by reloading.
(() => {
  // The interval of polling without a status stream, and the delay before a failed load is retried.
  const pollMs = 5000;
  // A receipt changes rarely: when it is refunded or taken back.
  const receiptPollMs = 15000;
  let stream = null;
  let timer = 0;

  const main = () => document.querySelector('main');
  const page = () => main().dataset.page;
  const isReceipt = () => 'receipt' in main().dataset;
  const isLive = () => ('live' in main().dataset || isReceipt()) && !document.hidden;

  function listen() {
    stop();
    if (!isLive()) return;
    if (!window.EventSource || isReceipt()) {
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
    timer = setTimeout(action, isReceipt() ? receiptPollMs : pollMs);
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
      const part = new DOMParser().parseFromString(await res.text(), 'text/html');
      show(part.querySelector('main'), part.querySelector('style'));
    } catch (_error) {
      later(() => apply(state));
    }
  }

  // Keeps values and focus of fields that the new part also has.
  function show(next, style) {
    const old = main();
    if (!next || next.dataset.state === old.dataset.state) return;
    // The style of the later steps, once.
    if (style && document.querySelectorAll('style').length < 2) document.head.append(style);
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
    if (isReceipt() || !isLive()) listen();
  }

  function focusOn(element) {
    if (element.id === 'step') element.tabIndex = -1;
    element.focus({ preventScroll: element.id !== 'step' });
  }

  // Shows the buttons that need scripts.
  function showButtons() {
    for (const button of document.querySelectorAll('[data-print]')) button.hidden = false;
    if (!navigator.share) return;
    for (const button of document.querySelectorAll('[data-share]')) button.hidden = false;
  }

  const seenAt = new WeakMap();
  function ageMs(element) {
    if (!seenAt.has(element)) seenAt.set(element, performance.now());
    return performance.now() - seenAt.get(element);
  }

  // The units' symbols are the same in every language (page-text.ts).
  function inUnits(minutes) {
    return minutes < 60 ? minutes + ' min' : Math.floor(minutes / 60) + ' h ' + (minutes % 60) + ' min';
  }

  // What to do when nothing arrives is shown after some time only.
  function showInTime() {
    const late = document.querySelector('[data-after-ms]');
    if (late && ageMs(late) >= Number(late.dataset.afterMs)) late.hidden = false;
  }

  // The time left, counted from when this part of the page was shown; the server's clock decides.
  function countDown() {
    const left = document.querySelector('[data-left-ms]');
    if (!left) return;
    const minutes = Math.max(1, Math.ceil((left.dataset.leftMs - ageMs(left)) / 60000));
    if (minutes < 2880) left.textContent = inUnits(minutes);
  }

  // The running time since the payment, which a screenshot of a receipt does not have.
  function countUp() {
    const since = document.querySelector('[data-since-ms]');
    if (!since) return;
    const seconds = Math.floor((Number(since.dataset.sinceMs) + ageMs(since)) / 1000);
    if (seconds < 172800) since.textContent = seconds < 60 ? seconds + ' s' : inUnits(Math.floor(seconds / 60));
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
    const share = event.target.closest('[data-share]');
    // A rejection means that the payer closed the sheet.
    if (share) navigator.share({ title: document.title, url: share.dataset.share }).catch(() => {});
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
  setInterval(showInTime, 1000);
  listen();
})();
