// What others do: it is shown, and where two changed the same, one of them chooses.
import { ask } from "./api.js";
import { h } from "./dom.js";
import { t } from "./words.js";

/** Shows what others changed: the list, and the story that is open. */
export async function listen(state, edits, { where, showOthers }) {
  const { revision, events } = await ask("annotate/events", { since: state.heard ?? edits.base, pass: where().pass });
  const others = events.filter((event) => event.window !== edits.window);
  if (others.length) await showOthers(others);
  state.heard = revision;
}

/** Both values of what two people changed, and the choice. */
export function clashPanel({ error, decide }, waiting) {
  const value = (given) => (given === null || given === undefined ? t("none") : JSON.stringify(given));
  const line = ({ what, yours, theirs, who }) => h("li", {}, t("clash_line", what, value(yours), value(theirs), who));
  const button = (name, decision) => h("button", { type: "button", "data-key": `clash ${name}`, onclick: () => decide(decision) }, t(name));
  return h("div", { class: "card wrong-edge", role: "alert", id: "clash", tabindex: "-1", "data-key": "clash" }, h("h3", {}, t("clash")), h("ul", {}, (error.body.clash ?? []).map(line)),
    waiting > 0 ? h("p", {}, t("clash_waits", waiting)) : null,
    h("p", {}, button("mine", "override"), " ", button("theirs", "keep")));
}
