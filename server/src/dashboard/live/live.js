// Lists and records that stay up to date while they are open. htmx holds the stream and replaces parts of the page; here is what
// is the dashboard's own: arrivals enter only where nobody reads, and whether the page is up to date is always said.
(() => {
  const lostAfterMs = 15000;
  const retryEveryMs = 5000;
  const connectTimeoutMs = 10000;
  const announceEveryMs = 10000;
  const rowsMax = 100;

  // Going back loads the page anew; nothing of a page is kept, so neither is a secret.
  htmx.config.history = 'reload';
  htmx.config.sse = { reconnectDelay: 1000, reconnectMaxDelay: retryEveryMs, connectTimeout: connectTimeoutMs };
  // What people have opened stays open.
  htmx.config.morphIgnore = ['data-htmx-powered', 'open'];

  // While a tablet sleeps, performance.now() may stand still; its own clock may be set back. Whichever has run further counts.
  window.stopwatch = () => {
    const [ticks, time] = [performance.now(), Date.now()];
    return () => Math.max(performance.now() - ticks, Date.now() - time);
  };

  let sinceBeatMs = stopwatch();
  let beatTime = '';
  let isStopped = false;
  let isFull = false;
  let waiting = new Map();

  const byId = (id) => document.getElementById(id);

  function showState(text, isLost) {
    const state = byId('live');
    if (!state) return;
    state.hidden = false;
    state.classList.toggle('lost', isLost);
    if (state.textContent !== text) state.textContent = text;
    document.body.classList.toggle('is-lost', isLost);
  }

  function lost() {
    if (isStopped) showState('Stopped. Open the page again.', true);
    else if (isFull) showState('Not live: too many pages are open. Close one.', true);
    else showState(beatTime === '' ? 'No connection' : 'No connection since ' + beatTime, true);
  }

  document.addEventListener('beat', ({ detail }) => {
    const wasLost = document.body.classList.contains('is-lost');
    sinceBeatMs = stopwatch();
    beatTime = detail.data;
    isFull = false;
    showState('Live ' + beatTime, false);
    if (wasLost) document.dispatchEvent(new CustomEvent('live:back'));
  });
  function noteRefusal(status) {
    // Signed out, another role, or gone: trying again changes nothing.
    isStopped = [401, 403, 404].includes(status);
    isFull = status === 429;
  }
  const source = document.querySelector('[hx-sse\\:connect]');
  let connection = null;
  let triedAt = performance.now();

  document.addEventListener('htmx:sse:after:connection', ({ detail }) => (connection = detail.connection));
  document.addEventListener('htmx:sse:close', () => (connection = null));
  document.addEventListener('htmx:sse:error', ({ detail }) => {
    noteRefusal(detail.status);
    if (isStopped) detail.connection.cancelled = true;
    lost();
  });
  document.addEventListener('htmx:sse:before:connection', ({ detail }) => {
    if (isStopped) detail.connection.cancelled = true;
  });
  // The first request of a stream; htmx tries again only once it has had a response.
  document.addEventListener('htmx:response:error', ({ detail }) => {
    if (detail.ctx.sourceElement !== source) return;
    noteRefusal(detail.ctx.response.status);
    lost();
  });
  document.addEventListener('htmx:error', () => source && lost());

  // A line that has fallen silent tells nobody that it is gone, so the stream is asked for again.
  function connectAgain() {
    if (isStopped || performance.now() - triedAt < retryEveryMs) return;
    triedAt = performance.now();
    if (connection) connection.reader?.cancel();
    else htmx.ajax('GET', source.getAttribute('hx-sse:connect'), { source, timeout: connectTimeoutMs });
  }

  if (source) {
    setInterval(() => {
      if (document.hidden || sinceBeatMs() <= lostAfterMs) return;
      lost();
      connectAgain();
    }, 1000);
    addEventListener('offline', lost);
    addEventListener('online', connectAgain);
  }

  // Announced at most every ten seconds, the newest text only.
  let announcedAt = -announceEveryMs;
  let announcement = 0;
  function announce(text) {
    let announcer = byId('announcer');
    if (!announcer) {
      announcer = document.createElement('p');
      announcer.id = 'announcer';
      announcer.className = 'unseen';
      announcer.setAttribute('role', 'status');
      document.querySelector('main').append(announcer);
    }
    clearTimeout(announcement);
    announcement = setTimeout(
      () => {
        announcedAt = performance.now();
        announcer.textContent = text;
      },
      Math.max(0, announcedAt + announceEveryMs - performance.now()),
    );
  }

  const inDalasi = (minor) =>
    'D' + (minor / 100).toLocaleString('en-GB', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

  function showWaiting() {
    const link = byId('arrived');
    const sum = Array.from(waiting.values()).reduce((total, amount) => total + amount, 0);
    link.hidden = waiting.size === 0;
    link.textContent = waiting.size + ' new, ' + inDalasi(sum) + ': Show';
    if (waiting.size > 0) announce(waiting.size + ' new, ' + inDalasi(sum));
  }

  const rowOf = (markup) => {
    const template = document.createElement('template');
    template.innerHTML = markup;
    return template.content.firstElementChild;
  };

  document.addEventListener('row', ({ detail }) => {
    const { id, markup, amount } = JSON.parse(detail.data);
    const row = rowOf(markup);
    const old = byId(row.id);
    if (old) return replaceRow(old, row);
    const body = document.querySelector('#list tbody');
    // The first row of an empty list: the list as a whole is another one.
    if (!body) return htmx.ajax('GET', location.href, { target: '#list', select: '#list', swap: 'outerHTML' });
    const isRead = scrollY > 8 || body.contains(document.activeElement) || waiting.size > 0;
    if (isRead || !('newest' in body.dataset)) {
      waiting.set(id, Number(amount));
      return showWaiting();
    }
    row.classList.add('is-new');
    // Ids count up with time, and a row may match the filters later than newer ones.
    body.insertBefore(row, Array.from(body.children).find((each) => each.id < row.id) ?? null);
    while (body.children.length > rowsMax) body.lastElementChild.remove();
    announce('New: ' + row.textContent.replace(/\s+/g, ' '));
  });

  function replaceRow(old, row) {
    if (old.outerHTML === row.outerHTML) return;
    const hadFocus = old.contains(document.activeElement);
    const state = row.querySelector('.state')?.textContent;
    if (state && state !== old.querySelector('.state')?.textContent) announce(row.textContent.replace(/\s+/g, ' '));
    row.className = old.className;
    old.replaceWith(row);
    if (hadFocus) row.querySelector('a')?.focus({ preventScroll: true });
  }

  document.addEventListener('count', ({ detail }) => {
    const count = byId('count');
    if (count && count.textContent !== detail.data) count.textContent = detail.data;
  });

  // A part that did not come, such as that of an error page: the browser shows the whole page.
  document.addEventListener('htmx:before:swap', (event) => {
    const { select, text, request } = event.detail.ctx;
    const isPart = select === '#list' || select === '#record';
    if (!isPart || text.includes('id="' + select.slice(1) + '"')) return;
    event.preventDefault();
    location.assign(request.action);
  });
  document.addEventListener('htmx:after:swap', (event) => {
    if (event.detail.ctx.select !== '#list') return;
    waiting = new Map();
    if (byId('count')) announce(byId('count').textContent);
    if (beatTime !== '') showState('Live ' + beatTime, false);
  });
})();
