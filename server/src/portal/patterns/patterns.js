// A form that was sent says so and takes no second press; the page that comes back has a new form.
for (const form of document.querySelectorAll('form[method=post]:not([data-passkey])')) {
  form.addEventListener('submit', (event) => {
    if (form.dataset.isSent === 'true') return event.preventDefault();
    form.dataset.isSent = 'true';
    // Enter in a form of rows presses a button that nobody sees.
    const button = event.submitter?.matches('.unseen') ? form.querySelector('.actions button') : event.submitter;
    if (!button) return;
    button.setAttribute('aria-busy', 'true');
    button.dataset.text = button.textContent;
    button.textContent = 'Sending…';
  });
}
// A page that the browser shows again from its memory has forms that may be sent.
window.addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-is-sent]')) delete form.dataset.isSent;
  for (const button of document.querySelectorAll('button[data-text]')) {
    button.removeAttribute('aria-busy');
    button.textContent = button.dataset.text;
    delete button.dataset.text;
  }
});
// A secret is shown once: the browser may hold a page in memory for its Back button, so the secret leaves with the reader.
window.addEventListener('pagehide', () => {
  for (const shown of document.querySelectorAll('[data-secret]')) {
    shown.innerHTML = '<p>This was shown once. Make a new one if you did not copy it.</p>';
  }
});
// Copies a reference; the button says that it did.
for (const button of document.querySelectorAll('button[data-copy]')) {
  if (!navigator.clipboard) break;
  button.hidden = false;
  button.addEventListener('click', () => {
    void navigator.clipboard.writeText(button.dataset.copy).then(() => {
      button.textContent = 'Copied';
    });
  });
}
for (const button of document.querySelectorAll('button[data-print]')) {
  button.hidden = false;
  button.addEventListener('click', () => window.print());
}
// How much of a file is sent, while it is downloaded. htmx would need an expression for it, which the content policy forbids.
for (const progress of document.querySelectorAll('[data-progress]')) {
  const read = async () => {
    const response = document.hidden ? null : await fetch(progress.dataset.progress).catch(() => null);
    if (response?.ok) {
      const page = new DOMParser().parseFromString(await response.text(), 'text/html');
      const text = page.getElementById('progress')?.textContent ?? '';
      if (progress.textContent !== text) progress.textContent = text;
    }
    setTimeout(() => void read(), 1000);
  };
  setTimeout(() => void read(), 1000);
}
