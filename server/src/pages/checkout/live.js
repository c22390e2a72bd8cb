// Keeps an open checkout page up to date. Everything also works without this script, by reloading. The two objects are
// parameters because the minifier shortens those, and the first view has a limit in bytes.
((document, navigator) => {
  // The interval of polling without a status stream, and the delay before a failed load is retried.
  const pollMs = 5000;
  // A receipt changes rarely: when it is refunded or taken back.
  const receiptPollMs = 15000;
  const listenMs = 60000;
  let stream = null;
  let timer = 0;

  // Asks for the main part of the page only; the response to a form is the next one, without a redirect.
  const asPart = { 'x-page-part': 'main' };

  const parse = (text) => new DOMParser().parseFromString(text, 'text/html');
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
    // CLOSED (2) means refused, for example because the server has reached its limit of streams.
    stream.onerror = () => stream.readyState > 1 && poll();
    // A line that has fallen silent says nothing, not even that it is gone: a new one has the current state.
    timer = setTimeout(listen, listenMs);
  }

  function stop() {
    if (stream) stream.close();
    clearTimeout(timer);
  }

  async function poll() {
    if (!isLive()) return;
    try {
      const res = await fetch(page() + '/status', { headers: { accept: 'text/plain' } });
      if (res.ok) await apply(await res.text());
    } catch (_error) {
      // Offline for a moment: the next poll follows.
    }
    if (!isLive()) return;
    clearTimeout(timer);
    timer = setTimeout(() => void poll(), isReceipt() ? receiptPollMs : pollMs);
  }

  // On a slow network an older state may arrive after a newer one: what was requested before what is shown is not drawn.
  let requested = 0;
  let drawn = 0;

  async function apply(state) {
    if (state === main().dataset.state) return;
    const order = ++requested;
    try {
      const query = 'opensNext' in main().dataset ? '?open=1' : '';
      const res = await fetch(page() + query, { headers: asPart });
      if (!res.ok) throw res;
      const part = parse(await res.text());
      if (order < drawn) return;
      drawn = order;
      show(part);
    } catch (_error) {
      setTimeout(() => void apply(state), pollMs);
    }
  }

  // Sends a form. Whatever happens, it is not sent again: the page that is opened instead says what became of it.
  async function send(form) {
    try {
      const body = new URLSearchParams(new FormData(form));
      const res = await fetch(form.action, { method: 'POST', headers: asPart, body });
      const part = parse(await res.text());
      if (!part.querySelector('main')) throw res;
      drawn = ++requested;
      show(part, true);
    } catch (_error) {
      location.replace(page() || '');
      window.keepTyped();
    }
  }

  // Shows the next state. After a change from elsewhere, fields that it also has keep their values and the focus.
  function show(part, isOwn) {
    const old = main();
    const next = part.querySelector('main');
    if (!next || (!isOwn && next.dataset.state === old.dataset.state)) return;
    for (const style of part.querySelectorAll('style')) {
      if (!document.head.innerHTML.includes(style.textContent)) document.head.append(style);
    }
    const active = document.activeElement;
    const hadFocus = old.contains(active);
    for (const field of isOwn ? [] : old.querySelectorAll('input:not([type=hidden])')) {
      const same = next.querySelector('#' + CSS.escape(field.id));
      if (!same) continue;
      if (field.type === 'radio') same.checked = field.checked;
      else same.value = field.value;
    }
    old.replaceWith(next);
    document.title = part.title;
    document.getElementById('live').textContent = document.title;
    const fieldToFocus = next.querySelector('[autofocus]');
    // After Pay the heading has the focus, not what somebody uses.
    if (fieldToFocus && (isOwn || !hadFocus || active.id === 'step')) fieldToFocus.focus();
    else if (hadFocus) focusOn((active.id && document.getElementById(active.id)) || next.querySelector('#step'));
    showButtons();
    if (isOwn) {
      if (page()) history.replaceState(null, '', page());
      scrollTo(0, 0);
    }
    if (isOwn || isReceipt() || !isLive()) listen();
    if (next.dataset.open) location.href = next.dataset.open;
  }

  function focusOn(element) {
    if (element.id === 'step') element.tabIndex = -1;
    element.focus({ preventScroll: element.id !== 'step' });
  }

  // Shows the buttons that need scripts.
  function showButtons() {
    for (const button of document.querySelectorAll('button[hidden]')) {
      const { share, copy } = button.dataset;
      button.hidden = (share && !navigator.share) || (copy && !navigator.clipboard);
    }
  }

  // While a phone sleeps, performance.now() may stand still; the phone's own clock may be set back. Whichever has run further counts.
  const seenAt = new WeakMap();
  function ageMs(element) {
    if (!seenAt.has(element)) seenAt.set(element, [performance.now(), Date.now()]);
    const [ticks, time] = seenAt.get(element);
    return Math.max(performance.now() - ticks, Date.now() - time);
  }

  // The units' symbols are the same in every language (page-text.ts).
  function inUnits(minutes) {
    return minutes < 60 ? minutes + ' min' : Math.floor(minutes / 60) + ' h ' + (minutes % 60) + ' min';
  }

  // All times are counted from when this part of the page was shown; the server's clock decides.
  function tick() {
    // What to do when nothing arrives is shown after some time only.
    const late = document.querySelector('[data-after-ms]');
    if (late && ageMs(late) >= late.dataset.afterMs) late.hidden = false;
    const left = document.querySelector('[data-left-ms]');
    if (left) {
      const minutes = Math.max(1, Math.ceil((left.dataset.leftMs - ageMs(left)) / 60000));
      if (minutes < 2880) left.textContent = inUnits(minutes);
    }
    // The running time since the payment, which a screenshot of a receipt does not have.
    const since = document.querySelector('[data-since-ms]');
    if (since) {
      const seconds = Math.floor((Number(since.dataset.sinceMs) + ageMs(since)) / 1000);
      if (seconds < 172800) since.textContent = seconds < 60 ? seconds + ' s' : inUnits(Math.floor(seconds / 60));
    }
  }

  document.addEventListener('submit', (event) => {
    const button = event.target.querySelector('button:not([type=button])');
    if (!button) return;
    // A second press while the form is being sent must have no effect.
    if (button.getAttribute('aria-busy')) return event.preventDefault();
    button.setAttribute('aria-busy', 'true');
    stop();
    // Old browsers send it themselves.
    if (!window.URLSearchParams || !page()) return;
    event.preventDefault();
    void send(event.target);
  });
  document.addEventListener('click', ({ target }) => {
    const { share, copy } = target.dataset;
    if ('print' in target.dataset) print();
    // A rejection means that the payer closed the sheet, or allows no copy: the text can still be selected.
    const done = share
      ? navigator.share({ title: document.title, url: share })
      : copy && navigator.clipboard.writeText(copy).then(() => (target.textContent = '\u2713'));
    if (done) done.catch(() => {});
  });
  // Phones suspend background pages: update at once when the payer comes back from the network's app.
  document.addEventListener('visibilitychange', listen);
  addEventListener('pagehide', stop);
  addEventListener('pageshow', (event) => {
    if (!event.persisted) return;
    for (const button of document.querySelectorAll('[aria-busy]')) button.removeAttribute('aria-busy');
    listen();
  });

  // In response to the form of a link or counter, the page comes without its own address.
  if (page() && location.pathname !== page()) history.replaceState(null, '', page());
  showButtons();
  tick();
  setInterval(tick, 1000);
  listen();
})(document, navigator);
