// Charts by pointer, keyboard and touch: the chosen value is shown and spoken below the drawing.
for (const chart of document.querySelectorAll('[data-chart]')) {
  const plot = chart.querySelector('.plot');
  const output = chart.querySelector('output');
  const points = [...chart.querySelectorAll('.point')];
  const summary = output.textContent;
  let current = -1;
  const choose = (index) => {
    points[current]?.classList.remove('current');
    current = index;
    points[current]?.classList.add('current');
    output.textContent = points[current]?.dataset.spoken ?? summary;
  };
  plot.tabIndex = 0;
  plot.addEventListener('keydown', (event) => {
    const { key, ctrlKey, altKey, metaKey } = event;
    if (ctrlKey || altKey || metaKey) return;
    const last = points.length - 1;
    const next = {
      ArrowRight: Math.min(current + 1, last),
      ArrowLeft: current < 0 ? last : Math.max(current - 1, 0),
      Home: 0,
      End: last,
      Escape: -1,
    }[key];
    if (next === undefined) return;
    event.preventDefault();
    choose(next);
  });
  plot.addEventListener('click', ({ target }) => choose(points.indexOf(target.closest('.point'))));
  plot.addEventListener('pointerover', ({ target }) => choose(points.indexOf(target.closest('.point'))));
  plot.addEventListener('pointerleave', () => choose(-1));
  plot.addEventListener('blur', () => choose(-1));
}
