// One story at work: its sentences, entities, labels, conflict, versions and hints.
import { cellPanel, grid } from "./grid.js";
import { h } from "./dom.js";
import { sendForm } from "./forms.js";
import { percent, t } from "./words.js";

const BOUNDS = [0.3, 0.5, 0.7, 0.9];

export function storyPane(state, actions) {
  const { view, proposals } = state;
  const done = h("label", { class: "check" }, h("input", { type: "checkbox", "data-key": "done", checked: view.done,
    onchange: (event) => actions.edit([{ op: "done", done: event.target.checked }]) }), t("story_done"));
  return h("div", { class: "pane" },
    h("div", { class: "controls" }, h("h3", { id: "title", tabindex: "-1", "data-stand-in": "" }, `${view.story} (${t(`kind_${view.kind ?? "plausible"}`)})`), steps(view, actions), done,
      h("button", { type: "button", "data-key": "remove-story", onclick: () => actions.edit([{ op: "remove_story" }]) }, t("remove_story"))),
    versions(view, actions), sentences(state, actions), entities(state, actions),
    proposals?.run ? h("p", { class: "fine" }, t("proposals_of", proposals.run)) : null,
    grid(state, actions), cellPanel(state, actions), hints(state, actions), keys());
}

function steps(view, actions) {
  return ["undo", "redo"].map((name) => h("button", { type: "button", id: name, "data-key": name, disabled: view !== null && !view[name], title: view?.[name] ?? "", onclick: actions[name] }, t(name)));
}

/** The last story may have been removed: that can be undone. */
export function noStory(state, actions) {
  return h("div", { class: "pane" }, h("div", { class: "controls" }, steps(null, actions)), h("p", { class: "soft" }, t("nothing")));
}

function versions(view, actions) {
  const all = [view.plausible, ...view.versions];
  if (all.length < 2) return null;
  return h("p", { class: "chips" }, h("span", { class: "soft" }, `${t("versions")}: `), all.map((story) =>
    h("button", { type: "button", class: "chip", "data-key": `version ${story}`, "aria-current": story === view.story ? "page" : null, onclick: () => actions.open(story) }, story)));
}

/** The sentences: in the conflict or not, edited, swapped by dragging or by two clicks on their handles. */
function sentences(state, actions) {
  const { view, half } = state;
  const marked = new Set([view.conflict?.evidence, view.conflict?.breakpoint, half]);
  const item = (sentence, n) => {
    const handle = h("button", { type: "button", class: "handle", draggable: true, "data-key": `handle ${sentence.id}`, "aria-label": t("pick", n + 1), "aria-pressed": String(state.picked === sentence.id),
      onclick: () => pick(state, actions, sentence.id, n), ondragstart: (event) => { event.dataTransfer.setData("text/plain", String(sentence.id)); event.dataTransfer.effectAllowed = "move"; actions.drag(true); }, ondragend: () => actions.drag(false) }, "⇅");
    const drop = (event) => {
      event.preventDefault();
      actions.drag(false);
      swap(state, actions, Number(event.dataTransfer.getData("text/plain")), sentence.id);
    };
    const isOpen = state.form?.kind === "sentence" && state.form.id === sentence.id;
    return h("li", { ondragover: (event) => event.preventDefault(), ondrop: drop, class: marked.has(sentence.id) ? "marked" : "" },
      handle, view.kind ? h("button", { type: "button", class: "chip", "data-key": `mark ${sentence.id}`, "aria-pressed": String(marked.has(sentence.id)), "aria-label": t("in_conflict_mark", n + 1),
        onclick: () => actions.mark(sentence.id) }, t("in_conflict")) : null,
      h("span", { class: "grow", lang: view.language }, sentence.text),
      state.proposals?.run ? h("button", { type: "button", class: "chip", "data-key": `row ${sentence.id}`, "aria-label": t("accept_row_of", n + 1), onclick: () => actions.acceptSentence(sentence.id) }, t("accept_row", percent(state.bound))) : null,
      h("button", { type: "button", class: "chip", "data-key": `edit ${sentence.id}`, "aria-expanded": String(isOpen), "aria-label": t("edit", n + 1),
        onclick: () => { state.form = isOpen ? null : { kind: "sentence", id: sentence.id, base: view.revision }; actions.show(); document.getElementById("sentence-text")?.focus(); } }, "✎"),
      isOpen ? sentenceForm(state, actions, sentence, n) : null);
  };
  const bound = h("select", { id: "bound", "data-key": "bound", onchange: (event) => { state.bound = Number(event.target.value); actions.show(); } }, BOUNDS.map((value) => h("option", { value }, percent(value))));
  bound.value = String(state.bound);
  return h("div", {}, view.sentences.length ? h("ol", { class: "editing" }, view.sentences.map(item)) : firstSentence(view, actions),
    state.proposals?.run ? h("p", { class: "controls" }, h("label", { for: "bound" }, t("bound")), bound) : null,
    proposedConflicts(state, actions),
    view.kind ? null : h("p", { class: "fine" }, t("swap_version")));
}

/** A story without sentences has none after which one could be inserted. */
function firstSentence(view, actions) {
  const input = h("input", { id: "first-sentence", required: true, autocomplete: "off", lang: view.language, "data-key": "first-sentence" });
  const submit = (event) => {
    event.preventDefault();
    actions.edit([{ op: "insert", after: null, text: input.value.trim() }]);
  };
  return h("form", { class: "controls", onsubmit: submit }, h("p", {}, h("label", { for: "first-sentence" }, t("first_sentence")), input), h("button", {}, t("add")));
}

/** The sentence pairs that the run takes for the conflict, while none is marked. */
function proposedConflicts({ view, proposals }, actions) {
  if (!view.kind || view.conflict || !proposals?.conflict.length) return null;
  const number = (id) => view.sentences.findIndex((sentence) => sentence.id === id) + 1;
  const chip = ({ evidence, breakpoint, probability }) => h("button", { type: "button", class: "chip proposed", "data-key": `conflict ${evidence} ${breakpoint}`,
    onclick: () => actions.edit([{ op: "conflict", evidence, breakpoint }]) }, t("pair", number(evidence), number(breakpoint), percent(probability)));
  return h("p", { class: "chips" }, h("span", { class: "soft" }, `${t("proposed_conflict")}: `), proposals.conflict.map(chip));
}

/** The first click picks a sentence up, the second one says with which it is swapped. */
function pick(state, actions, id, n) {
  if (state.picked === null) {
    state.picked = id;
    return actions.say(t("picked", n + 1));
  }
  const picked = state.picked;
  state.picked = null;
  return picked === id ? actions.say("") : swap(state, actions, picked, id);
}

function swap({ view }, actions, a, b) {
  if (a === b || ![a, b].every((id) => view.sentences.some((sentence) => sentence.id === id))) return;
  actions.edit([view.kind ? { op: "swap", sentences: [a, b] } : { op: "version", kind: "order", swap: [a, b] }]);
}

function sentenceForm(state, actions, sentence, n) {
  const { view } = state;
  const input = h("input", { id: "sentence-text", value: state.form.text ?? sentence.text, lang: view.language, "data-key": "sentence-text", oninput: (event) => { state.form.text = event.target.value; } });
  if (state.form.text === undefined) state.form.base = view.revision; // nothing was typed yet
  const { base } = state.form; // others may have changed since what is being corrected
  const send = (op) => {
    const text = input.value.trim();
    sendForm(state, actions, [{ ...op, sentence: sentence.id, ...("text" in op ? { text } : {}) }], { base });
  };
  const button = (name, op) => h("button", { type: "button", "data-key": `sentence ${name}`, onclick: () => send(op) }, t(name));
  const insert = () => {
    const text = input.value.trim();
    sendForm(state, actions, [{ op: "insert", after: sentence.id, text }]);
  };
  return h("form", { class: "sentence-form", "data-instead": `edit ${sentence.id}`, onsubmit: (event) => { event.preventDefault(); send({ op: "text", text: "" }); } },
    h("label", { for: "sentence-text" }, t("sentence_text", n + 1)), sentence.in.length ? h("span", { class: "fine" }, ` ${t("shared", sentence.in.join(", "))}`) : null, input,
    h("p", {}, h("button", {}, t("correct")), " ", view.kind ? button("replace", { op: "replace", text: "" }) : button("new_version", { op: "version", kind: "cloze", text: "" }), " ",
      view.kind && sentence.in.length ? [button("own", { op: "own" }), " "] : null,
      h("button", { type: "button", onclick: insert }, t("insert")), " ", button("remove", { op: "remove" })));
}

function entities(state, actions) {
  const { view } = state;
  const chip = (entity) => {
    const isOpen = state.form?.kind === "entity" && state.form.id === entity.id;
    return h("button", { type: "button", class: "chip", "data-key": `entity ${entity.id}`, "aria-expanded": String(isOpen), lang: view.language,
      onclick: () => { state.form = isOpen ? null : { kind: "entity", id: entity.id }; actions.show(); } }, entity.name, entity.id === view.actor ? ` (${t("actor")})` : "");
  };
  const found = view.proposed.entities;
  const addAll = () => {
    const ops = found.map(({ name, person }) => ({ op: "entity", name, person }));
    if (view.actor === null && view.proposed.actor) ops.push({ op: "actor", name: view.proposed.actor });
    actions.edit(ops);
  };
  const addOne = ({ name, person }) => h("button", { type: "button", class: "chip proposed", "data-key": `found ${name}`, lang: view.language, onclick: () => actions.edit([{ op: "entity", name, person }]) }, `+ ${name}`);
  const open = view.entities.find((entity) => state.form?.kind === "entity" && state.form.id === entity.id);
  return h("div", {}, h("p", { class: "chips" }, h("span", { class: "soft" }, `${t("entities")}: `), view.entities.map(chip)),
    found.length ? h("p", { class: "chips" }, h("span", { class: "soft" }, `${t("found_entities")}: `), found.map(addOne), h("button", { type: "button", class: "chip", id: "add-all", "data-key": "add-all", onclick: addAll }, t("add_all"))) : null,
    open ? entityForm(state, actions, open) : h("div", { class: "controls" }, newEntity(actions), location(view, actions)));
}

function location(view, actions) {
  const send = (event) => actions.edit([{ op: "location", text: event.target.value.trim() }]);
  return h("p", {}, h("label", { for: "location" }, t("location")), h("input", { id: "location", value: view.location ?? "", autocomplete: "off", "data-key": "location", lang: view.language, onchange: send }));
}

function entityForm(state, actions, entity) {
  const name = h("input", { id: "entity-name", value: state.form.name ?? entity.name, required: true, "data-key": "entity-name", oninput: (event) => { state.form.name = event.target.value; } });
  const person = h("input", { type: "checkbox", checked: entity.person, "data-key": "entity-person" });
  const actor = h("input", { type: "checkbox", checked: state.view.actor === entity.id, "data-key": "entity-actor" });
  const submit = (event) => {
    event.preventDefault();
    const ops = [];
    if (name.value.trim() !== entity.name) ops.push({ op: "rename", entity: entity.id, name: name.value.trim() });
    if (person.checked !== entity.person) ops.push({ op: "kind", entity: entity.id, person: person.checked });
    if (actor.checked !== (state.view.actor === entity.id)) ops.push({ op: "actor", entity: actor.checked ? entity.id : null });
    if (ops.length) return sendForm(state, actions, ops);
    state.form = null;
    actions.show();
  };
  return h("form", { class: "controls", "data-instead": `entity ${entity.id}`, onsubmit: submit }, h("p", {}, h("label", { for: "entity-name" }, t("entity")), name), h("label", { class: "check" }, person, t("person")), h("label", { class: "check" }, actor, t("actor")),
    h("button", {}, t("rename")), h("button", { type: "button", onclick: () => sendForm(state, actions, [{ op: "drop", entity: entity.id }]) }, t("drop")));
}

function newEntity(actions) {
  const name = h("input", { id: "new-entity", required: true, autocomplete: "off", "data-key": "new-entity" });
  const person = h("input", { type: "checkbox", "data-key": "new-person" });
  const submit = (event) => {
    event.preventDefault();
    actions.edit([{ op: "entity", name: name.value.trim(), person: person.checked }]);
  };
  return h("form", { class: "controls", onsubmit: submit }, h("p", {}, h("label", { for: "new-entity" }, t("new_entity")), name), h("label", { class: "check" }, person, t("person")), h("button", {}, t("add")));
}

function hints({ view }, actions) {
  const item = ({ message, sentences, entity }) => h("li", {}, entity !== null && sentences.length
    ? h("button", { type: "button", class: "state", onclick: () => actions.focus({ entity, sentence: sentences[sentences.length - 1] }) }, message) : message);
  return h("section", { class: "card hints", "aria-label": t("hints") }, h("h3", {}, t("hints")), view.hints.length ? h("ul", {}, view.hints.map(item)) : h("p", { class: "soft" }, t("no_hints")));
}

function keys() {
  return h("details", { class: "card" }, h("summary", {}, t("keys")), h("dl", { class: "keys" }, t("key_list").map(([key, effect]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, effect)])));
}
