// What others do: it is shown, and where two changed the same, one of them chooses.
import { ask, isOwnProject } from "./api.js";
import { h } from "./dom.js";
import { inWords } from "./grid.js";
import { attributeName, t } from "./words.js";

/** Refuses what comes from the server of another project: it may have been started at this address. */
export function requireOwn({ project }) {
  if (project !== undefined && !isOwnProject(project)) throw Object.assign(new Error(t("other_project")), { isOther: true });
}

/** Shows what others changed: the list, and the story that is open. */
export async function listen(state, edits, { where, showOthers }) {
  const heard = await ask("annotate/events", { since: state.heard ?? edits.base, pass: where().pass });
  requireOwn(heard);
  const { revision, events } = heard;
  const others = events.filter(({ window }) => window !== edits.window && !window.startsWith(`${edits.window}-`)); // those of an import are numbered
  if (others.length) await showOthers(others);
  state.heard = revision;
}

/** Both values of what two people changed, and the choice. */
export function clashPanel({ words, view, clashes: [{ error, decide }] }, waiting) {
  const { story, clash: told = [] } = error.body;
  const seen = { words, view: story === view?.story ? view : null }; // ids mean other sentences and entities in another story
  const line = (clash) => h("li", {}, t("clash_line", whatOf(seen, clash), valueOf(seen, clash.yours, clash), valueOf(seen, clash.theirs, clash), clash.who));
  const button = (name, decision) => h("button", { type: "button", "data-key": `clash ${name}`, onclick: () => decide(decision) }, t(name));
  return h("div", { class: "card wrong-edge", role: "alert", id: "clash", tabindex: "-1", "data-key": "clash" }, h("h3", {}, `${t("clash")} (${story})`), h("ul", {}, told.map(line)),
    waiting > 0 ? h("p", {}, t("clash_waits", waiting)) : null,
    h("p", {}, button("mine", "override"), " ", button("theirs", "keep")));
}

const numberOf = ({ view }, id) => (view?.sentences.findIndex((sentence) => sentence.id === id) ?? -1) + 1;
const nameOf = ({ view }, id) => view?.entities.find((entity) => entity.id === id)?.name;

/** A label in words of the page; other fields as the server names them. */
function whatOf(state, { what, entity, sentence, attribute }) {
  const name = nameOf(state, entity), n = numberOf(state, sentence);
  return attribute && name && n ? `${t("cell", name, n)}, ${attributeName(attribute)}` : what;
}

/** A value of a clash in words, with the sentences as they are numbered on the page. */
function valueOf(state, value, { attribute }) {
  const number = (id) => numberOf(state, id) || t("unknown_sentence");
  if (value === null || value === undefined || value === "") return t("none");
  if (typeof value === "boolean") return t(value ? "yes" : "no");
  if (attribute) return inWords(state.words, attribute, value);
  if (typeof value === "number") return nameOf(state, value) ?? t("unknown_entity"); // the actor
  if (Array.isArray(value)) return value.map(number).join(" ");
  if (value.evidence !== undefined) return t("pair_of", number(value.evidence), number(value.breakpoint));
  if (value.name !== undefined) return `“${value.name}”${value.person ? `, ${t("person")}` : ""}`;
  return `“${value}”`;
}
