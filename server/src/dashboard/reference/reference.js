// Fills a test key that somebody pastes into the examples. It is sent nowhere and kept nowhere.
const filler = document.querySelector('[data-key-filler]');
if (filler) {
  const field = filler.querySelector('input');
  const error = filler.querySelector('[data-key-error]');
  const examples = [...document.querySelectorAll('[data-example]')].map((element) => ({
    element,
    text: element.textContent,
    key: element.dataset.example,
  }));
  filler.hidden = false;
  field.addEventListener('input', () => {
    const typed = field.value.trim();
    error.hidden = !typed.startsWith('sk_live_');
    const isTestKey = /^sk_test_\w+$/.test(typed);
    for (const { element, text, key } of examples) element.textContent = isTestKey ? text.replaceAll(key, typed) : text;
  });
}
