// Evaluated in a page: what a payer could not see or press there, a line each.
(() => {
  const faults = [];
  const root = document.documentElement;
  const width = root.clientWidth;
  if (root.scrollWidth > width) faults.push(`the page is ${root.scrollWidth} wide and scrolls sideways`);

  const isShown = (element) =>
    element.checkVisibility({ visibilityProperty: true }) &&
    !element.closest('.unseen, .skip:not(:focus), noscript, script, style') &&
    ![element, element.parentElement].some((each) => getComputedStyle(each).clipPath === 'inset(50%)');
  // What stays in place while the rest is scrolled: it lies over whatever passes below it.
  const isPinned = (element) => {
    for (let box = element; box; box = box.parentElement) {
      if (['fixed', 'sticky'].includes(getComputedStyle(box).position)) return true;
    }
    return false;
  };
  const isClamped = (element) => getComputedStyle(element).webkitLineClamp !== 'none';
  const words = (text) => text.trim().replace(/\s+/g, ' ').slice(0, 60);

  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.data.trim() === '' || !isShown(node.parentElement)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    // Of a long text in a list the first lines stand there, and the whole on the record's own page.
    const clamped = node.parentElement.closest('.first');
    const bottom = clamped && isClamped(clamped) ? clamped.getBoundingClientRect().bottom : Infinity;
    const isInView = inViewOf(node.parentElement);
    for (const rect of range.getClientRects()) {
      if (rect.bottom > bottom + 1 || !isInView(rect)) continue;
      if (rect.width > 0 && rect.height > 0) texts.push({ node, rect, isPinned: isPinned(node.parentElement) });
    }
    // Amounts, which a reference's letters may look like, and words that no screen is too narrow for.
    for (const word of node.data.matchAll(
      /(?<![\p{L}\d])D\d[\d,]*(?:\.\d\d)?(?![\p{L}\d])|(?<![^\s(])\p{L}{2,12}(?![^\s.,:?!)])/gu,
    )) {
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      if (linesOf(range.getClientRects()) > 1) faults.push(`"${word[0]}" is on two lines`);
    }
  }
  for (const amount of document.querySelectorAll('.amount')) {
    const range = document.createRange();
    range.selectNodeContents(amount);
    if (isShown(amount) && linesOf(range.getClientRects()) > 1)
      faults.push(`"${words(amount.textContent)}" is on two lines`);
  }

  function scrollerOf(element) {
    for (let box = element; box !== document.body; box = box.parentElement) {
      if (/auto|scroll/.test(getComputedStyle(box).overflowX)) return box;
    }
    return null;
  }

  /** Of a box that is scrolled downwards, what stands in the part that shows. */
  function inViewOf(element) {
    const boxes = [];
    for (let box = element; box !== document.body; box = box.parentElement) {
      if (/auto|scroll/.test(getComputedStyle(box).overflowY)) boxes.push(box.getBoundingClientRect());
    }
    return ({ top, bottom }) => boxes.every((box) => top >= box.top - 1 && bottom <= box.bottom + 1);
  }

  /** Rectangles that share no height with the first are on another line. */
  function linesOf(rects) {
    const [first, ...others] = rects;
    return 1 + others.filter(({ top, bottom }) => top >= first.bottom || bottom <= first.top).length;
  }

  for (const { node, rect } of texts) {
    // What lies beyond the edge of a box that is scrolled can be scrolled to; axe says whether by keyboard too.
    const scroller = scrollerOf(node.parentElement);
    if (scroller && (rect.left < 0 || rect.right > scroller.getBoundingClientRect().right)) continue;
    if (rect.left < -1 || rect.right > width + 1) faults.push(`"${words(node.data)}" is outside the page`);
    for (let box = node.parentElement; box !== document.body; box = box.parentElement) {
      const { overflowX, overflowY, backgroundColor, borderRightWidth } = getComputedStyle(box);
      const outer = box.getBoundingClientRect();
      // In forced colours the transparent one is a white without opacity.
      const isDrawn = !backgroundColor.endsWith(', 0)') || borderRightWidth !== '0px';
      if (isDrawn && (rect.left < outer.left - 1 || rect.right > outer.right + 1)) {
        faults.push(`"${words(node.data)}" is wider than its box`);
      }
      if (box === scroller) break;
      const cut =
        !isClamped(box) &&
        ((overflowX !== 'visible' && (rect.left < outer.left - 1 || rect.right > outer.right + 1)) ||
          (overflowY !== 'visible' && (rect.top < outer.top - 1 || rect.bottom > outer.bottom + 1)));
      if (cut) faults.push(`"${words(node.data)}" is cut`);
    }
  }
  // The letters themselves: a line has room above and below them, which may overlap.
  const lettersOf = ({ left, right, top, bottom, height }) => ({
    left: left + 1,
    right: right - 1,
    top: top + height / 4,
    bottom: bottom - height / 4,
  });
  for (const [index, text] of texts.entries()) {
    for (const other of texts.slice(index + 1)) {
      if (other.node === text.node || other.isPinned !== text.isPinned) continue;
      const [one, two] = [lettersOf(text.rect), lettersOf(other.rect)];
      const overlap = one.left < two.right && two.left < one.right && one.top < two.bottom && two.top < one.bottom;
      if (overlap) faults.push(`"${words(text.node.data)}" covers "${words(other.node.data)}"`);
    }
  }

  // A value as long as this one is scrolled in its field by whoever types it.
  const longValue = 20;
  const scrolled = '[type=hidden], [type=radio], [type=checkbox], [type=file], [type=url], [readonly]';
  for (const field of document.querySelectorAll(`input:not(${scrolled})`)) {
    const isCut = field.scrollWidth > field.clientWidth + 1 && field.value.length <= longValue;
    if (isShown(field) && isCut) faults.push(`what stands in ${field.name} is cut`);
  }
  // Wide screens have a navigation at the side, and a pointer: 24 is what WCAG 2.2 asks for (2.5.8).
  const heightMin = document.querySelector('.side')?.checkVisibility() ? 24 : 44;
  /** What can be pressed: of a link that is spread over its box, that. */
  const areaOf = (target) => {
    const isSpread = target.offsetParent && getComputedStyle(target, '::after').position === 'absolute';
    const label = target.matches('[type=checkbox], [type=radio]') ? target.labels[0] : undefined;
    return (isSpread ? target.offsetParent : (label ?? target)).getBoundingClientRect();
  };
  const isInText = (target) =>
    target.closest('.shell') &&
    getComputedStyle(target).display === 'inline' &&
    (target.closest('p, dd, li, td, span:not(.first)') ?? target.parentElement).textContent.trim().length >
      target.textContent.trim().length;
  for (const target of document.querySelectorAll('a, button, input, select, textarea, summary')) {
    const { width: targetWidth, height } = areaOf(target);
    // The browser rounds lengths of fractions of a pixel.
    if (isShown(target) && targetWidth > 0 && height > 0 && height < heightMin - 0.5 && !isInText(target)) {
      faults.push(`"${words(target.textContent || target.name)}" is ${Math.round(height)} high, too low for a thumb`);
    }
  }
  return [...new Set(faults)];
})();
