// Only boxes that can be scrolled receive the focus of the Tab key. Closed details are measured when they are opened.
(() => {
  const observer = new ResizeObserver((entries) => {
    const wide = entries.map(({ target }) => target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight);
    entries.forEach(({ target }, i) => { if (wide[i]) target.tabIndex = 0; else target.removeAttribute("tabindex"); });
  });
  for (const box of document.querySelectorAll(".scroll")) observer.observe(box);
})();
