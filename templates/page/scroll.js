// Only what can be scrolled is a stop of the Tab key. What is folded away is not measured before it is unfolded.
(() => {
  const observer = new ResizeObserver((entries) => {
    const wide = entries.map(({ target }) => target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight);
    entries.forEach(({ target }, i) => { if (wide[i]) target.tabIndex = 0; else target.removeAttribute("tabindex"); });
  });
  for (const box of document.querySelectorAll(".scroll")) observer.observe(box);
})();
