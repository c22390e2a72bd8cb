// Shows new prompts on the simulated phone as they come. Without it the page loads itself again now and then.
(() => {
  const lookAgainMs = 2000;
  const main = () => document.querySelector('main[data-page]');

  async function look() {
    if (!document.hidden) {
      try {
        const answer = await fetch(main().dataset.page, { headers: { 'x-page-part': 'main' } });
        if (answer.ok) show(new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('main'));
      } catch (_error) {
        // The next look is two seconds away.
      }
    }
    setTimeout(() => void look(), lookAgainMs);
  }

  function show(next) {
    if (!next || next.dataset.state === main().dataset.state) return;
    main().replaceWith(next);
    document.getElementById('news').textContent = (next.querySelector('.prompt') || next).textContent;
  }

  if (main()) setTimeout(() => void look(), lookAgainMs);
})();
