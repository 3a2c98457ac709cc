// Makes elements. Text is always text: nothing here reads HTML.

/** An element: properties beginning with "on" are listeners, "class" and those with a dash are attributes. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && !name.includes("-")) element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** A custom property of CSS: the policy of the page allows no style in the markup. */
export function styled(element, property, value) {
  element.style.setProperty(property, value);
  return element;
}

/** Replaces what an element contains. The focus stays on the element with the same data-key, and what was scrolled stays so. */
export function fill(element, ...children) {
  const key = element.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  const find = (name, value) => [...element.querySelectorAll(`[data-${name}]`)].find((found) => found.dataset[name] === value);
  const scrolled = [...element.querySelectorAll("[data-scroll]")].map((part) => [part.dataset.scroll, part.scrollLeft, part.scrollTop]);
  const [left, top] = [window.scrollX, window.scrollY];
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  for (const [name, x, y] of scrolled) find("scroll", name)?.scrollTo(x, y);
  if (key) find("key", key)?.focus({ preventScroll: true });
  window.scrollTo({ left, top, behavior: "instant" });
}

/** Says something to screen readers. */
export function announce(text) {
  document.getElementById("status").textContent = text;
}

/** What is remembered in this browser, if it allows that. */
export const memory = {
  get(name) {
    try { return localStorage.getItem(`tiered-${name}`); } catch { return null; }
  },
  set(name, value) {
    try { localStorage.setItem(`tiered-${name}`, value); } catch { /* a private window: nothing is remembered */ }
  },
};
