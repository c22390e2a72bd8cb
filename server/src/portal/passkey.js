// Passkeys: a form with `data-passkey` holds the server's question as JSON; its button asks the authenticator, and the answer
// travels in the form's field `passkey`. Without scripts these forms stay hidden, and codes do the same work.
const bytesOf = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
const textOf = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

async function responseTo(kind, options) {
  const publicKey = { ...options, challenge: bytesOf(options.challenge) };
  const ids = (list = []) => list.map((each) => ({ ...each, type: 'public-key', id: bytesOf(each.id) }));
  if (kind === 'create') {
    publicKey.user = { ...options.user, id: bytesOf(options.user.id) };
    publicKey.excludeCredentials = ids(options.excludeCredentials);
  } else publicKey.allowCredentials = ids(options.allowCredentials);
  const credential = await navigator.credentials[kind === 'create' ? 'create' : 'get']({ publicKey });
  const { response } = credential;
  const parts = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle'];
  const texts = parts.filter((part) => response[part]).map((part) => [part, textOf(response[part])]);
  return JSON.stringify({
    id: credential.id,
    rawId: textOf(credential.rawId),
    type: credential.type,
    clientExtensionResults: {},
    response: Object.fromEntries(texts),
  });
}

async function fill(form, kind, question) {
  try {
    form.elements.passkey.value = await responseTo(kind, JSON.parse(question));
    form.submit();
  } catch {
    form.querySelector('[role=alert]').textContent = 'Nothing was done: no passkey was given.';
  }
}

for (const form of document.querySelectorAll('form[data-passkey]')) {
  if (!window.PublicKeyCredential) continue;
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void fill(form, form.dataset.kind, form.dataset.passkey);
  });
}

// In forms that a code confirms too.
for (const button of document.querySelectorAll('[data-passkey-button]')) {
  if (!window.PublicKeyCredential) continue;
  button.hidden = false;
  button.addEventListener('click', (event) => {
    event.preventDefault();
    void fill(button.form, 'get', button.dataset.passkeyButton);
  });
}
