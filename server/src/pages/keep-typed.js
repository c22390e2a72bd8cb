// A language is a link, which opens the page anew: what has been typed is carried over to it, except a one-time code.
(() => {
  const key = 'typed ' + location.pathname;
  const fields = () => document.querySelectorAll('form input[id]:not([autocomplete=one-time-code])');
  // In some private windows there is no storage, and it is typed again.
  try {
    const typed = JSON.parse(sessionStorage.getItem(key)) || {};
    sessionStorage.removeItem(key);
    for (const field of fields()) {
      if (field.id in typed) field[field.type === 'radio' ? 'checked' : 'value'] = typed[field.id];
    }
  } catch (_error) {
    return;
  }
  document.addEventListener('click', ({ target }) => {
    if (!target.closest('.languages a')) return;
    const typed = {};
    for (const field of fields()) typed[field.id] = field.type === 'radio' ? field.checked : field.value;
    sessionStorage.setItem(key, JSON.stringify(typed));
  });
})();
