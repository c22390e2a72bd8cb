// With scripts, the payment's page comes in response to the form, without the round trip of a redirect, and corrects its own address.
for (const form of document.querySelectorAll('form[method=post]')) {
  const field = document.createElement('input');
  Object.assign(field, { type: 'hidden', name: 'scripts', value: '1' });
  form.append(field);
}
