// The keys of the grid.
import { KEYS } from "./annotate-words.js";
import { attributesOf, awaited, openProposals } from "./grid.js";

/** The cells in reading order. */
const cells = (view) => view.sentences.flatMap((sentence) => view.entities.map((entity) => ({ entity: entity.id, sentence: sentence.id })));

/** The next cell with open proposals after this one, in reading order and around; else the next cell. */
export function nextOpen(state, { entity, sentence }) {
  const all = cells(state.view);
  const here = all.findIndex((cell) => cell.entity === entity && cell.sentence === sentence);
  const following = [...all.slice(here + 1), ...all.slice(0, here)];
  return following.find((cell) => openProposals(state, cell.entity, cell.sentence).length) ?? following[0] ?? all[here];
}

function moved({ view, at }, columns, rows) {
  const place = (list, id, by) => {
    const i = list.findIndex((other) => other.id === id);
    return list[Math.min(Math.max(i + by, 0), list.length - 1)].id;
  };
  return { entity: place(view.entities, at.entity, columns), sentence: place(view.sentences, at.sentence, rows) };
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** What a key does; returns whether it did something. */
export function pressed(event, state, actions) {
  const { view, at, words } = state;
  const waiting = awaited(state);
  const key = event.shiftKey ? event.key : event.key.replace(/^[A-Z]$/, (letter) => letter.toLowerCase()); // Caps Lock
  if ((event.ctrlKey || event.metaKey) && !event.altKey) {
    const action = { z: event.shiftKey ? actions.redo : actions.undo, y: actions.redo }[key.toLowerCase()];
    action?.();
    return Boolean(action);
  }
  const isBracket = key === "[" || key === "]"; // typed with AltGr (Ctrl and Alt on Windows) or Option on many keyboards
  if (event.metaKey || ((event.ctrlKey || event.altKey) && !isBracket)) return false;
  const entity = view.entities.find((other) => other.id === at?.entity);
  if (!entity) return false; // it is gone, and the focus soon leaves the grid
  if (waiting) {
    const label = /^[0-9]$/.test(key) ? Number(key) : key === "Backspace" ? null : undefined;
    const isKnown = label === null || waiting.labels.some((other) => other.label === label);
    if (label !== undefined && !isKnown) return true; // the page goes on asking
    actions.wait(null);
    if (label !== undefined) actions.set(at, { [waiting.name]: label });
    if (label !== undefined || key === "Escape") return true;
  }
  if (ARROWS[key]) return done(actions.focus(moved(state, ...ARROWS[key])));
  if (key === "Home" || key === "End") return done(actions.focus(moved(state, key === "Home" ? -view.entities.length : view.entities.length, 0)));
  if (key === "Enter") return done(event.shiftKey ? actions.acceptSentence(at.sentence) : actions.acceptAndGo(at));
  if (key === "Delete") return done(actions.dismiss(at));
  if (key === "c") return done(actions.mark(at.sentence));
  if (isBracket) return done(actions.neighbour(key === "]" ? 1 : -1));
  const attribute = attributesOf(words, entity).find((other) => KEYS[other.name] === key);
  return attribute ? done(actions.wait(attribute.name)) : false;
}

const done = () => true;
