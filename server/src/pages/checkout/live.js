// Keeps a checkout page true while it is open. Everything also works without it, by loading the page again.
(() => {
  // How often to ask when the stream of states cannot be had, and how soon after a failed load to try once more.
  const askAgainMs = 5000;
  let stream = null;
  let timer = 0;

  const main = () => document.querySelector('main');
  const page = () => main().dataset.page;
  const isLive = () => 'live' in main().dataset && !document.hidden;

  function listen() {
    stop();
    if (!isLive()) return;
    if (!window.EventSource) {
      void ask();
      return;
    }
    stream = new EventSource(page() + '/status');
    stream.onmessage = (event) => heard(event.data);
    // Closed for good means refused, for example because the server holds as many streams as it can.
    stream.onerror = () => stream.readyState === EventSource.CLOSED && ask();
  }

  function stop() {
    if (stream) stream.close();
    clearTimeout(timer);
  }

  function later(action) {
    clearTimeout(timer);
    timer = setTimeout(action, askAgainMs);
  }

  async function ask() {
    if (!isLive()) return;
    try {
      const answer = await fetch(page() + '/status', { headers: { accept: 'text/plain' } });
      if (answer.ok) await heard(await answer.text());
    } catch (_error) {
      // A network that is gone for a moment: the next time is near.
    }
    if (isLive()) later(ask);
  }

  async function heard(state) {
    if (state === main().dataset.state) return;
    try {
      const answer = await fetch(page(), { headers: { 'x-page-part': 'main' } });
      if (!answer.ok) throw answer;
      show(new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('main'));
    } catch (_error) {
      later(() => heard(state));
    }
  }

  // What was typed and where the cursor stood survive, as far as the new part has the same fields.
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
    document.getElementById('news').textContent = next.dataset.title;
    const asksForTyping = next.querySelector('[autofocus]');
    if (!hadFocus && asksForTyping) asksForTyping.focus();
    if (hadFocus) focusOn((active.id && document.getElementById(active.id)) || next.querySelector('#step'));
    dress();
    if (!isLive()) stop();
  }

  function focusOn(element) {
    if (element.id === 'step') element.tabIndex = -1;
    element.focus({ preventScroll: element.id !== 'step' });
  }

  // Buttons that need scripts, shown only where scripts run.
  function dress() {
    for (const button of document.querySelectorAll('[data-print]')) button.hidden = false;
  }

  const cameAt = new WeakMap();
  function ageMs(element) {
    if (!cameAt.has(element)) cameAt.set(element, performance.now());
    return performance.now() - cameAt.get(element);
  }

  // The time left, counted from when this part of the page came; the server's clock decides in the end.
  function countDown() {
    const left = document.querySelector('[data-left-ms]');
    if (!left) return;
    const minutes = Math.max(1, Math.ceil((left.dataset.leftMs - ageMs(left)) / 60000));
    if (minutes <= 120) left.textContent = minutes + (minutes === 1 ? ' minute' : ' minutes');
  }

  // How long ago it was paid, running: a picture of a receipt stands still.
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
    // A second press while the first is on its way would start nothing, but it would look as if it had.
    if (button.getAttribute('aria-busy')) return event.preventDefault();
    button.setAttribute('aria-busy', 'true');
    stop();
  });
  document.addEventListener('click', (event) => {
    if (event.target.closest('[data-print]')) print();
  });
  // Phones stop a page in the background; when the payer comes back from the network's app it must be true at once.
  document.addEventListener('visibilitychange', listen);
  addEventListener('pagehide', stop);
  addEventListener('pageshow', (event) => {
    if (!event.persisted) return;
    for (const button of document.querySelectorAll('[aria-busy]')) button.removeAttribute('aria-busy');
    listen();
  });

  dress();
  countDown();
  setInterval(countDown, 10000);
  setInterval(countUp, 1000);
  listen();
})();
