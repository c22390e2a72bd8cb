// Marks the wallets of the operator to whose range the number belongs that is being typed. It never chooses one.
document.addEventListener('input', ({ target }) => {
  if (target.name !== 'account_number') return;
  const digits = target.value.replace(/\D/g, '').replace(/^(00)?220(?!\d{4}$)(?=\d)/, '');
  for (const mark of document.querySelectorAll('[data-prefixes]')) {
    mark.hidden = !mark.dataset.prefixes.split(' ').some((prefix) => digits.startsWith(prefix));
  }
});
