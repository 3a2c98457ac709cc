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
  element.append(...present(children));
  return element;
}

function present(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

/** Makes these the children of an element. Those that it has stay where they are: to attach hundreds of lines anew takes the browser long. */
export function keep(element, ...children) {
  const wanted = present(children).map((child) => (child instanceof Node ? child : document.createTextNode(child)));
  const stays = new Set(wanted);
  for (const old of [...element.childNodes]) if (!stays.has(old)) old.remove();
  let at = element.firstChild;
  for (const child of wanted) {
    if (child === at) at = at.nextSibling;
    else element.insertBefore(child, at);
  }
  return element;
}

/** Elements by key. One is made anew only if what it shows changed: others keep the focus, and their open lists. */
export class Shown {
  known = new Map();

  get(key, shows, make) {
    const text = JSON.stringify(shows);
    if (this.known.get(key)?.text !== text) this.known.set(key, { text, element: make() });
    return this.known.get(key).element;
  }
}

const made = new WeakMap();

/** What is made once for a page, which its actions stand for. */
export function once(actions, name, make) {
  if (!made.has(actions)) made.set(actions, new Map());
  const known = made.get(actions);
  if (!known.has(name)) known.set(name, make());
  return known.get(name);
}

/** A custom property of CSS: the policy of the page allows no style in the markup. */
export function styled(element, property, value) {
  element.style.setProperty(property, value);
  return element;
}

/** The element whose part with the focus went without another one in its place yet. */
let lost = null;

/** Replaces what an element contains. What was scrolled stays so, and lists whose summaries have a data-key stay open or closed; the focus stays on the element with the same data-key, with its caret. If that is gone,
    the focus goes to the one that data-instead names, by its data-key or data-stand-in, else to the last one with an empty data-stand-in.
    A function that makes the children may take elements over from before. */
export function fill(element, ...children) {
  const { activeElement } = document;
  const active = element.contains(activeElement) ? activeElement : null;
  const hadFocus = active || (lost === element && activeElement === document.body);
  const find = (name, value) => (value === undefined ? null : element.querySelector(`[data-${name}="${CSS.escape(value)}"]`));
  const instead = active?.closest("[data-instead]")?.dataset.instead;
  const caret = [active?.selectionStart, active?.selectionEnd, active?.selectionDirection];
  const scrolled = [...element.querySelectorAll("[data-scroll]")].map((part) => [part.dataset.scroll, part.scrollLeft, part.scrollTop]);
  const summaries = [...element.querySelectorAll("summary[data-key]")].map((summary) => [summary.dataset.key, summary.parentElement.open]);
  const [left, top] = [window.scrollX, window.scrollY];
  const made = children.flatMap((child) => (typeof child === "function" ? child() : child));
  keep(element, made);
  for (const [name, x, y] of scrolled) find("scroll", name)?.scrollTo(x, y);
  for (const [key, open] of summaries) if (find("key", key)) find("key", key).parentElement.open = open;
  const same = find("key", active?.dataset.key);
  same?.focus({ preventScroll: true });
  if (Number.isInteger(caret[0])) same?.setSelectionRange?.(...caret);
  const isLost = () => hadFocus && !element.contains(document.activeElement);
  if (isLost()) (find("key", instead) ?? find("stand-in", instead) ?? [...element.querySelectorAll("[data-stand-in='']")].at(-1))?.focus({ preventScroll: true });
  if (hadFocus) lost = isLost() ? element : null;
  window.scrollTo({ left, top, behavior: "instant" });
}

let press = null, afterPress = null;
function release() {
  clearTimeout(press);
  press = null;
  if (afterPress) setTimeout(afterPress); // after the click
  afterPress = null;
}
addEventListener("pointerdown", () => {
  clearTimeout(press);
  press = setTimeout(release, 1000); // a list that opens, or a scroll bar, may keep the release to itself
}, true);
for (const name of ["pointerup", "pointercancel"]) addEventListener(name, release, true);

/** Whether drawing is put off while a pointer is pressed: a click is lost if what was pressed is replaced before the release. */
export function putOff(draw) {
  if (press !== null) afterPress = draw;
  return press !== null;
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
