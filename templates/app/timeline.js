// Why: the probability of a state over the sentences of its story, for one entity.
import { h, styled } from "./dom.js";
import { attributeName, className, percent, t } from "./words.js";

/** An attribute is offered if one of its states reaches this probability. */
const WORTH = 0.2;
const SIDES = ["precondition", "effect"];

/** A table: a column for each sentence, a row before it, a row after it, and the conflict probabilities. */
export function timeline(stories, { story, entity, attribute }, { choose }) {
  const found = stories[story]?.entities.find((other) => other.name === entity);
  if (!found || !attribute) return null;
  const sentences = found.conflict_probs.map((_, n) => n);
  const cell = (side, n) => {
    const state = found.states.find((other) => other.side === side && other.sentence === n && other.attribute === attribute);
    if (!state) return h("td", {});
    const label = className(attribute, side, state.class);
    return h("td", {}, styled(h("i", { class: `column ${state.class === 1 ? "no" : "yes"}`, "aria-hidden": "true" }), "--value", state.probability),
      h(state.predicted ? "b" : "span", {}, label), " ", h("span", { class: "soft" }, percent(state.probability)));
  };
  const row = (side) => h("tr", {}, h("th", { scope: "row" }, t(side === "effect" ? "after_row" : "before_row")), sentences.map((n) => cell(side, n)));
  const part = (n) => h("td", {}, styled(h("i", { class: "column part", "aria-hidden": "true" }), "--value", found.conflict_probs[n]),
    h("span", { class: "soft" }, percent(found.conflict_probs[n])));
  const others = [...new Set(found.states.filter((state) => state.probability >= WORTH).map((state) => state.attribute))];
  const other = (name) => h("button", { type: "button", class: "chip", "data-key": `attribute ${name}`, "aria-pressed": String(name === attribute),
    onclick: () => choose({ story, entity, attribute: name }) }, attributeName(name));
  return h("div", { class: "why", "data-scroll": "why", role: "region", tabindex: "0", "aria-label": t("why", found.name, attributeName(attribute)) },
    h("table", {}, h("caption", {}, t("why", found.name, attributeName(attribute))),
      h("thead", {}, h("tr", {}, h("td", {}), sentences.map((n) => h("th", { scope: "col" }, t("sentence", n + 1))))),
      h("tbody", {}, SIDES.map(row), h("tr", {}, h("th", { scope: "row" }, t("part")), sentences.map(part)))),
    h("p", { class: "fine" }, t("legend")),
    others.length > 1 ? h("p", { class: "chips" }, h("span", { class: "soft" }, `${t("others", found.name)}: `), others.filter((name) => name !== attribute).map(other)) : null);
}
