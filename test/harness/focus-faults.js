// Evaluated in a page: what cannot be reached by keyboard there, or does not show that it is reached, a line each.
(() => {
  const faults = [];
  const name = (element) =>
    (element.textContent || element.name || element.id).trim().replace(/\s+/g, ' ').slice(0, 60);
  const isShown = (element) =>
    element.checkVisibility({ visibilityProperty: true }) && !element.closest('.unseen, .skip');
  const lookOf = (element) => {
    const { outlineStyle, outlineWidth, boxShadow, borderColor, backgroundColor } = getComputedStyle(element);
    return `${outlineStyle === 'none' ? '' : outlineWidth} ${boxShadow} ${borderColor} ${backgroundColor}`;
  };
  document.activeElement.blur();
  const main = document.querySelector('main');
  const targets = [...main.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary')];
  // A radio button that is drawn as its label shows its focus there.
  const drawn = (element) => (isShown(element) ? element : element.labels?.[0]);
  for (const target of targets.slice(0, 40)) {
    if (target.disabled || !drawn(target) || !isShown(drawn(target))) continue;
    if (target.tabIndex !== 0) faults.push(`"${name(target)}" is reached out of turn or not at all`);
    const before = lookOf(drawn(target));
    target.focus();
    if (document.activeElement !== target) faults.push(`"${name(target)}" takes no focus`);
    else if (lookOf(drawn(target)) === before) faults.push(`"${name(target)}" looks the same with focus`);
    target.blur();
  }
  scrollTo(0, 0);
  return faults;
})();
