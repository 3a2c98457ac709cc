// The answer of one run: the verdict, the sentences in conflict, the states that explain it, what changed.
import { changes } from "./changes.js";
import { h, styled } from "./dom.js";
import { timeline } from "./timeline.js";
import { percent, t } from "./words.js";

/** Below this probability one choice is only slightly more likely than the other. */
const CLEARLY = 0.6;

/** "Story 1 is plausible", and how sure that is. */
export function verdict(answer) {
  if (answer.plausible) {
    const { story, probability } = answer.plausible;
    return [t(probability < CLEARLY ? "slightly" : "plausible", story + 1), probability];
  }
  if (answer.single_story) {
    const { plausible, probability } = answer.single_story;
    const which = plausible ? "plausible" : "implausible";
    return [t(`one_${probability < CLEARLY ? "slightly_" : ""}${which}`), probability];
  }
  return [t(answer.conflict_detected ? "conflict" : "no_conflict"), null];
}

export function answerCard(run, { answer: explanation, before, held, error, isEnglish, isStale }, { selected }, { select, hold }) {
  const title = h("h3", { class: "run" }, run, isStale ? h("span", { class: "soft" }, ` ${t("working")}`) : null);
  if (error) return h("section", { class: "card" }, title, h("p", { class: "wrong", lang: isEnglish ? "en" : null }, error));
  if (!explanation) return h("section", { class: "card" }, title);
  const { answer, notes, stories } = explanation;
  const [words, probability] = verdict(answer);
  const isSelected = (place) => selected?.run === run && same(place, selected);
  const choose = (place) => select(isSelected(place) ? null : { ...place, run });
  return h("section", { class: isStale ? "card stale" : "card", "aria-label": run }, title,
    h("p", { class: "verdict" }, words, probability === null ? null : h("span", { class: "figure" }, ` ${percent(probability)}`)),
    probability === null ? null : styled(h("div", { class: "bar", "aria-hidden": "true" }), "--value", probability),
    notes.length ? h("details", { class: "notes" }, h("summary", { "data-key": `notes ${run}` }, t("notes")), h("ul", { lang: "en" }, notes.map((note) => h("li", {}, note)))) : null,
    h("div", { class: "both" }, answer.stories.map((story, s) => storyList(answer, story, s, { choose, isSelected, stories }))),
    answer.subject ? h("p", {}, t("about", answer.subject)) : null,
    reasons(answer, stories, { choose, isSelected }),
    selected?.run === run ? timeline(stories, selected, { choose }) : null,
    held || before ? compared(run, explanation, held ?? before) : null,
    h("p", {}, h("button", { type: "button", "data-key": `hold ${run}`, "aria-pressed": String(Boolean(held)), onclick: () => hold(run) },
      t(held ? "held" : "hold"))));
}

const same = (place, other) =>
  Boolean(other) && ["story", "entity", "attribute"].every((part) => place[part] === other[part]);

function storyList(answer, story, s, { choose, isSelected, stories }) {
  const single = answer.stories.length === 1;
  const marked = new Set(answer.conflict.filter((sentence) => sentence.story === s).map((sentence) => sentence.sentence));
  const reached = marked.size && [...marked].some((n) => story.sentences[n].conflict_prob >= 0.5);
  const sentence = ({ text, conflict_prob }, n) => h("li", { lang: stories[s].language },
    marked.has(n) ? h("mark", {}, text) : text,
    marked.has(n) ? h("span", { class: "tag" }, t(answer.conflict_detected || reached ? "in_conflict" : "likely_pair")) : null,
    h("span", { class: "share", title: t("conflict_probability") }, styled(h("i", { class: "meter", "aria-hidden": "true" }), "--value", conflict_prob),
      h("span", { class: "sr" }, `${t("conflict_probability")} `), percent(conflict_prob)));
  const entity = (name, e) => {
    const place = { story: s, entity: name, attribute: strongest(stories[s].entities[e]) };
    return h("button", { type: "button", class: "chip", "data-key": `entity ${s} ${e}`, "aria-pressed": String(isSelected(place)),
      lang: stories[s].language, onclick: () => choose(place) }, name);
  };
  return h("div", {}, h("h4", {}, t("story", s + 1)), h("ol", { class: "sentences" }, story.sentences.map(sentence)),
    h("p", { class: "chips" }, h("span", { class: "soft" }, `${t("entities")}${story.entities_found ? `, ${t("found")}` : ""}: `),
      story.entities.map(entity)));
}

/** The attribute of an entity with the most probable state. */
function strongest({ states }) {
  return states.reduce((best, state) => (state.probability > (best?.probability ?? 0) ? state : best), null)?.attribute ?? null;
}

function reasons(answer, stories, { choose, isSelected }) {
  if (!answer.conflict.length) return null;
  if (!answer.states.length) return h("p", { class: "soft" }, t("no_states"));
  const state = ({ story, sentence, side, entity, attribute, class: number, words }, i) => {
    const place = { story, entity, attribute };
    const { states } = stories[story].entities.find((other) => other.name === entity);
    const found = states.find((other) =>
      other.sentence === sentence && other.side === side && other.attribute === attribute && other.class === number);
    const when = t(side === "effect" ? "after" : "before", sentence + 1);
    return h("li", {}, h("button", { type: "button", class: "state", "data-key": `state ${i}`, "aria-expanded": String(isSelected(place)),
      onclick: () => choose(place) },
    h("span", { class: "soft" }, `${when}: `), h("span", { lang: stories[story].language }, words),
    found ? h("span", { class: "soft" }, ` ${percent(found.probability)}${found.probability < 0.5 ? `, ${t("uncertain")}` : ""}`) : null));
  };
  return h("div", { class: "reasons" }, h("h4", {}, t(answer.conflict_detected ? "because" : "guessed")),
    h("ul", {}, answer.states.map(state)), h("p", { class: "fine" }, t("click")));
}

function compared(run, now, before) {
  const list = changes(before.answer, now.answer, verdict);
  return h("details", { class: "changes", open: true }, h("summary", { "data-key": `changes ${run}` }, t("changes")),
    list.length ? h("ul", {}, list.map((change) => h("li", {}, change))) : h("p", { class: "soft" }, t("nothing_changed")));
}
