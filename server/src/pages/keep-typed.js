// What has been typed is carried over to the page that is opened anew: in another language, which is a link, or by `live.js`, where the
// response to a form is lost. Not a code, which is used once, and no answer if the shop has changed its fields meanwhile: it would stand
// under another label.
window.keepTyped = ((document) => {
  const labels = document.querySelector('[name=labels]');
  const form = location.pathname + (labels ? labels.value : '');
  try {
    const storage = sessionStorage;
    const [typedIn, typed] = JSON.parse(storage.typed || '[]');
    delete storage.typed;
    for (const [id, value, checked] of typedIn === form ? typed : []) {
      Object.assign(document.getElementById(id) || {}, { value, checked });
    }
    const keep = () => {
      const fields = Array.from(document.querySelectorAll('input[id]:not(#code)'), ({ id, value, checked }) => [
        id,
        value,
        checked,
      ]);
      storage.typed = JSON.stringify([form, fields]);
    };
    document.addEventListener('click', ({ target, ctrlKey, metaKey, shiftKey }) => {
      // In another tab nothing is carried over, and nothing is left for whoever opens this one next.
      if (target.href && target.lang && !ctrlKey && !metaKey && !shiftKey) keep();
    });
    return keep;
  } catch (_error) {
    // Without storage, as in some private windows, it is typed again.
  }
})(document);
