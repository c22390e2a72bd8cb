// Marks the wallets of the operator to whose range the number belongs that is being typed. It never chooses one. In the scripts between
// Arabic and N'Ko the last four bits of a digit are its value.
document.addEventListener('input', ({ target }) => {
  if (target.name !== 'account_number') return;
  const digits = target.value
    .replace(/[\u0660-\u07c9]/g, (digit) => digit.charCodeAt(0) & 15)
    .replace(/\D/g, '')
    .replace(/^(00)?220(?!\d{4}$)(?=\d)/, '');
  for (const mark of document.querySelectorAll('[data-prefixes]')) {
    mark.hidden = !mark.dataset.prefixes.split(' ').some((prefix) => digits.startsWith(prefix));
  }
});
