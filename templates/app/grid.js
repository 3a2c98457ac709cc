// The grid: a row for each sentence, a column for each entity; a cell holds the labels of its attributes.
import { KEYS } from "./annotate-words.js";
import { Shown, h, keep, once } from "./dom.js";
import { attributeName, percent, t } from "./words.js";

/** The attributes of a kind of entity, as /api/annotate/words gives them. */
export const attributesOf = (words, entity) => words.filter((attribute) => attribute.person === entity.person);

const named = (words, attribute) => words.find((other) => other.name === attribute);
export const inWords = (words, attribute, label) => named(words, attribute)?.labels.find((other) => other.label === label)?.words ?? String(label);

/** The attribute whose label the next key gives. Somebody may have made a person of a thing meanwhile. */
export function awaited({ view, at, words, waiting }) {
  const entity = view.entities.find((other) => other.id === at?.entity);
  return entity && attributesOf(words, entity).find((attribute) => attribute.name === waiting);
}

/** The cell in which the keyboard comes to the grid. */
export const firstCell = (view) => (view.entities.length && view.sentences.length ? { entity: view.entities[0].id, sentence: view.sentences[0].id } : null);

export const hasCell = (view, at) => view.entities.some((entity) => entity.id === at?.entity) && view.sentences.some((sentence) => sentence.id === at?.sentence);

/** What the annotator gave a cell: attribute -> label. */
export function labelsOf(view, entity, sentence) {
  return view.labels.find((cell) => cell.entity === entity && cell.sentence === sentence)?.values ?? {};
}

/** The same, with the labels that are still being saved. */
export function labelsSoFar({ view, saving }, entity, sentence) {
  const here = [...saving].filter((op) => op.story === view.story && op.entity === entity && op.sentence === sentence);
  const labels = Object.assign({}, labelsOf(view, entity, sentence), ...here.map(({ values }) => values));
  return Object.fromEntries(Object.entries(labels).filter(([, label]) => label !== null));
}

/** What is proposed for a cell and neither accepted nor changed nor dismissed. */
export function openProposals(state, entity, sentence) {
  const { proposals, dismissed } = state;
  const cell = proposals?.cells.find((other) => other.entity === entity && other.sentence === sentence);
  if (!cell || dismissed.has(`${entity} ${sentence}`)) return [];
  const labels = labelsSoFar(state, entity, sentence);
  return cell.labels.filter(({ attribute }) => labels[attribute] === undefined);
}

/** Labels to send when proposals are accepted. */
export const accepted = (proposals) => Object.fromEntries(proposals.map(({ attribute, label }) => [attribute, label]));

export function grid(state, actions) {
  const { view } = state;
  if (!view.entities.length) return h("p", { class: "soft" }, t("need_entities"));
  if (!view.sentences.length) return h("p", { class: "soft" }, t("need_sentences"));
  const head = h("tr", { role: "row" }, h("th", { scope: "col", role: "columnheader" }, t("sentences")), view.entities.map((entity) =>
    h("th", { scope: "col", role: "columnheader", lang: view.language }, entity.name)));
  const row = (sentence, n) => h("tr", { role: "row" }, h("th", { scope: "row", role: "rowheader", class: "text", lang: view.language }, `${n + 1}. ${sentence.text}`),
    view.entities.map((entity) => cellOf(state, actions, sentence, entity, n)));
  return h("div", { class: "scroll", "data-scroll": "grid" }, h("table", { class: "grid", role: "grid", "aria-label": t("sentences"), onkeydown: (event) => actions.key(event) },
    h("thead", { role: "rowgroup" }, head), h("tbody", { role: "rowgroup" }, view.sentences.map(row))));
}

function cellOf(state, actions, sentence, entity, n) {
  const { view, words } = state;
  const is = (at) => at.entity === entity.id && at.sentence === sentence.id;
  const here = state.at !== null && is(state.at);
  const labels = labelsOf(view, entity.id, sentence.id);
  const own = Object.entries(labels).map(([attribute, label]) => h("span", { class: "own" }, h("span", { class: "soft" }, `${attributeName(attribute)} `), inWords(words, attribute, label)));
  const open = openProposals(state, entity.id, sentence.id).map(({ attribute, label, probability }) =>
    h("span", { class: "proposed" }, h("span", { class: "soft" }, `${attributeName(attribute)} `), inWords(words, attribute, label), h("span", { class: "soft" }, ` ${percent(probability)}`)));
  const is_mentioned = entity.mentioned.includes(sentence.id);
  const hinted = view.hints.some((hint) => hint.entity === entity.id && hint.sentences.includes(sentence.id));
  return h("td", { role: "gridcell", tabindex: is(state.at ?? firstCell(view)) ? "0" : "-1", "data-key": `cell ${entity.id} ${sentence.id}`, "aria-label": t("cell", entity.name, n + 1) + [...own, ...open].map((part) => `, ${part.textContent}`).join(""),
    class: [is_mentioned ? "mentioned" : "", hinted ? "hinted" : "", here ? "here" : ""].join(" ").trim(),
    onfocus: () => actions.go({ entity: entity.id, sentence: sentence.id }), onclick: (event) => event.currentTarget.focus() }, own, open);
}

/** All attributes of the cell that has the focus, with their labels in words. */
export function cellPanel(state, actions) {
  const { view, at, words } = state;
  const asked = awaited(state), waiting = asked?.name;
  const entity = view.entities.find((other) => other.id === at?.entity);
  const n = view.sentences.findIndex((sentence) => sentence.id === at?.sentence);
  if (!entity || n < 0) return null;
  const labels = labelsOf(view, entity.id, at.sentence);
  const open = openProposals(state, entity.id, at.sentence);
  const set = (attribute, label) => actions.set(at, { [attribute]: label });
  const { section, list, known } = once(actions, "panel", () => ({ section: h("section", { class: "card panel" }), list: h("ul", { class: "attributes" }), known: new Shown() }));
  const line = (attribute) => {
    const proposal = open.find((other) => other.attribute === attribute.name);
    const shows = [view.story, at, waiting === attribute.name, labels[attribute.name], proposal];
    return known.get(attribute.name, shows, () => attributeLine(words, attribute, labels[attribute.name], proposal, waiting === attribute.name, set));
  };
  const ofOtherKind = words.filter(({ name, person }) => person !== entity.person && labels[name] !== undefined); // from before its kind was changed: to be taken away
  section.setAttribute("aria-label", t("cell", entity.name, n + 1));
  return keep(section,
    h("h3", { lang: view.language }, t("cell", entity.name, n + 1)),
    h("p", { class: "wait", role: "status" }, waiting ? t("key_wait", attributeName(waiting), asked.labels.at(-1).label) : ""),
    open.length ? h("p", {}, h("button", { type: "button", "data-key": "accept cell", onclick: () => actions.accept([at]) }, t("accept_cell"))) : null,
    keep(list, [...attributesOf(words, entity), ...ofOtherKind].map(line)));
}

function attributeLine(words, { name, labels }, value, proposal, isWaiting, set) {
  const select = h("select", { "data-key": `label ${name}`, "aria-label": t("label_of", attributeName(name)),
    onchange: (event) => set(name, event.target.value === "" ? null : Number(event.target.value)) },
  h("option", { value: "" }, t("none")), labels.map(({ label, words }) => h("option", { value: label }, `${label} ${words}`)));
  select.value = value ?? "";
  return h("li", { class: isWaiting ? "waiting" : "" }, h("kbd", {}, KEYS[name]), h("span", {}, attributeName(name)), select,
    proposal ? h("button", { type: "button", class: "proposed", "data-key": `accept ${name}`, "data-label": String(proposal.label), onclick: () => set(name, proposal.label) },
      `${t("accept")}: ${inWords(words, name, proposal.label)} ${percent(proposal.probability)}`) : null);
}
