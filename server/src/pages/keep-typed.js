// A language is a link, which opens the page anew: what has been typed is carried over to it, except a one-time code.
(() => {
  const path = location.pathname;
  try {
    const storage = sessionStorage;
    for (const [id, value, checked] of JSON.parse(storage[path] || '[]')) {
      Object.assign(document.getElementById(id) || {}, { value, checked });
    }
    delete storage[path];
    document.addEventListener('click', ({ target }) => {
      if (!target.hreflang) return;
      const fields = [...document.querySelectorAll('input[id]:not(#code)')];
      storage[path] = JSON.stringify(fields.map(({ id, value, checked }) => [id, value, checked]));
    });
  } catch (_error) {
    // Without storage, as in some private windows, it is typed again.
  }
})();
