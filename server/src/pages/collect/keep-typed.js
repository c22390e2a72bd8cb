// A language is a link, which opens the page anew: what has been typed is carried over to it. An answer is not, if the shop has changed
// its fields meanwhile: it would stand under another label.
(() => {
  const labels = document.querySelector('[name=labels]');
  const form = location.pathname + (labels ? labels.value : '');
  try {
    const storage = sessionStorage;
    const [typedIn, typed] = JSON.parse(storage.typed || '[]');
    delete storage.typed;
    for (const [id, value, checked] of typedIn === form ? typed : []) {
      Object.assign(document.getElementById(id) || {}, { value, checked });
    }
    document.addEventListener('click', ({ target, ctrlKey, metaKey, shiftKey }) => {
      // In another tab nothing is carried over, and nothing is left for whoever opens this one next.
      if (!target.hreflang || ctrlKey || metaKey || shiftKey) return;
      const fields = Array.from(document.querySelectorAll('input[id]'), ({ id, value, checked }) => [
        id,
        value,
        checked,
      ]);
      storage.typed = JSON.stringify([form, fields]);
    });
  } catch (_error) {
    // Without storage, as in some private windows, it is typed again.
  }
})();
