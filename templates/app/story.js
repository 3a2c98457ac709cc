// One story at work: its sentences, entities, labels, conflict, versions and hints.
import { cellPanel, grid } from "./grid.js";
import { h, keep, once } from "./dom.js";
import { Form, drafts, isTyped, keyOf, lostDrafts, toggle } from "./forms.js";
import { percent, t } from "./words.js";

const BOUNDS = [0.3, 0.5, 0.7, 0.9];

export function storyPane(state, actions) {
  const { view, proposals } = state;
  const done = h("label", { class: "check" }, h("input", { type: "checkbox", "data-key": "done", checked: view.done,
    onchange: (event) => actions.edit([{ op: "done", done: event.target.checked }]) }), t("story_done"));
  return keep(once(actions, "pane", () => h("div", { class: "pane" })),
    h("div", { class: "controls" }, h("h3", { id: "title", tabindex: "-1", "data-stand-in": "" }, `${view.story} (${t(`kind_${view.kind ?? "plausible"}`)})`), steps(view, actions), done,
      h("button", { type: "button", "data-key": "remove-story", onclick: () => actions.edit([{ op: "remove_story" }]) }, t("remove_story"))),
    versions(view, actions), sentences(state, actions), entities(state, actions),
    proposals?.run ? h("p", { class: "fine" }, t("proposals_of", proposals.run)) : null,
    grid(state, actions), cellPanel(state, actions), hints(state, actions), once(actions, "keys", keys));
}

function steps(view, actions) {
  return ["undo", "redo"].map((name) => h("button", { type: "button", id: name, "data-key": name, disabled: view !== null && !view[name], title: view?.[name] ?? "", onclick: actions[name] }, t(name)));
}

/** The last story may have been removed: that can be undone. */
export function noStory(state, actions) {
  return h("div", { class: "pane" }, h("div", { class: "controls" }, steps(null, actions)), lostDrafts(state, actions), h("p", { class: "soft" }, t("nothing")));
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
      swap({ view }, actions, Number(event.dataTransfer.getData("text/plain")), sentence.id);
      actions.drag(false);
    };
    const key = keyOf("sentence", view.story, sentence.id), isOpen = state.form === key;
    return h("li", { ondragover: (event) => event.preventDefault(), ondrop: drop, class: marked.has(sentence.id) ? "marked" : "" },
      handle, view.kind ? h("button", { type: "button", class: "chip", "data-key": `mark ${sentence.id}`, "aria-pressed": String(marked.has(sentence.id)), "aria-label": t("in_conflict_mark", n + 1),
        onclick: () => actions.mark(sentence.id) }, t("in_conflict")) : null,
      h("span", { class: "grow", lang: view.language }, sentence.text),
      state.proposals?.run ? h("button", { type: "button", class: "chip", "data-key": `row ${sentence.id}`, "aria-label": t("accept_row_of", n + 1), onclick: () => actions.acceptSentence(sentence.id) }, t("accept_row", percent(state.bound))) : null,
      h("button", { type: "button", class: "chip", "data-key": `edit ${sentence.id}`, "aria-expanded": String(isOpen), "aria-label": t("edit", n + 1) + draftedAt(key),
        onclick: () => toggle(state, actions, key, "sentence-text") }, `✎${draftedAt(key)}`),
      isOpen ? sentenceForm(state, actions, sentence, n) : null);
  };
  const bound = h("select", { id: "bound", "data-key": "bound", onchange: (event) => { state.bound = Number(event.target.value); actions.show(); } }, BOUNDS.map((value) => h("option", { value }, percent(value))));
  bound.value = String(state.bound);
  return h("div", {}, view.sentences.length ? h("ol", { class: "editing" }, view.sentences.map(item)) : firstSentence(state, actions),
    lostDrafts(state, actions),
    state.proposals?.run ? h("p", { class: "controls" }, h("label", { for: "bound" }, t("bound")), bound) : null,
    proposedConflicts(state, actions),
    view.kind ? null : h("p", { class: "fine" }, t("swap_version")));
}

/** What is said of a form in which something typed waits. */
const draftedAt = (key) => (isTyped(drafts.get(key)) ? ` (${t("drafted")})` : "");

/** A story without sentences has none after which one could be inserted. */
function firstSentence(state, actions) {
  const { view } = state;
  const form = new Form(state, actions, { kind: "first", story: view.story }, { text: "" });
  const submit = () => form.send([{ op: "insert", after: null, text: form.text("text") }]);
  return form.element({ class: "controls", instead: "first" }, submit, h("p", {}, h("label", { for: "first-sentence" }, t("first_sentence")), form.field("text", { id: "first-sentence", required: true, lang: view.language })),
    h("p", {}, form.button("first-sentence add", t("add")), form.onceTyped(form.cancel())));
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
  const form = new Form(state, actions, { kind: "sentence", story: view.story, id: sentence.id, n: n + 1 }, { text: sentence.text });
  const send = (op, options) => form.send([{ sentence: sentence.id, ...op() }], options);
  const text = () => form.text("text");
  const correct = () => send(() => ({ op: "text", text: text() }));
  const button = (name, op, options) => form.button(`sentence ${name}`, t(name), () => send(op, options));
  return form.element({ class: "sentence-form", instead: `edit ${sentence.id}` }, correct,
    h("label", { for: "sentence-text" }, t("sentence_text", n + 1)), sentence.in.length ? h("span", { class: "fine" }, ` ${t("shared", sentence.in.join(", "))}`) : null,
    form.field("text", { id: "sentence-text", lang: view.language }),
    h("p", {}, form.button("sentence correct", t("correct")), " ",
      view.kind ? button("replace", () => ({ op: "replace", text: text() })) : button("new_version", () => ({ op: "version", kind: "cloze", text: text() })), " ",
      view.kind && sentence.in.length ? [button("own", () => ({ op: "own" }), { stays: true }), " "] : null,
      form.button("sentence insert", t("insert"), () => form.send([{ op: "insert", after: sentence.id, text: text() }])), " ",
      button("remove", () => ({ op: "remove" })), " ", form.cancel()));
}

function entities(state, actions) {
  const { view } = state;
  const chip = (entity) => {
    const key = keyOf("entity", view.story, entity.id), isOpen = state.form === key;
    return h("button", { type: "button", class: "chip", "data-key": `entity ${entity.id}`, "aria-expanded": String(isOpen), lang: view.language,
      onclick: () => toggle(state, actions, key, "entity-name") }, entity.name, entity.id === view.actor ? ` (${t("actor")})` : "", draftedAt(key));
  };
  const found = view.proposed.entities;
  const addAll = () => {
    const ops = found.map(({ name, person }) => ({ op: "entity", name, person }));
    if (view.actor === null && view.proposed.actor) ops.push({ op: "actor", name: view.proposed.actor });
    actions.edit(ops);
  };
  const addOne = ({ name, person }) => h("button", { type: "button", class: "chip proposed", "data-key": `found ${name}`, lang: view.language, onclick: () => actions.edit([{ op: "entity", name, person }]) }, `+ ${name}`);
  const open = view.entities.find(({ id }) => state.form === keyOf("entity", view.story, id));
  return h("div", {}, h("p", { class: "chips" }, h("span", { class: "soft" }, `${t("entities")}: `), view.entities.map(chip)),
    found.length ? h("p", { class: "chips" }, h("span", { class: "soft" }, `${t("found_entities")}: `), found.map(addOne), h("button", { type: "button", class: "chip", id: "add-all", "data-key": "add-all", onclick: addAll }, t("add_all"))) : null,
    open ? entityForm(state, actions, open) : h("div", { class: "controls" }, newEntity(state, actions), location(state, actions)));
}

function location(state, actions) {
  const { view } = state;
  const form = new Form(state, actions, { kind: "location", story: view.story }, { text: view.location });
  const submit = () => { if (isTyped(form.draft)) form.send([{ op: "location", text: form.text("text") }]); };
  return form.element({ class: "controls", instead: "location" }, submit, h("p", {}, h("label", { for: "location" }, t("location")), form.field("text", { id: "location", lang: view.language })),
    h("p", {}, form.onceTyped(form.button("location save", t("rename")), form.cancel())));
}

function entityForm(state, actions, entity) {
  const { view } = state;
  const form = new Form(state, actions, { kind: "entity", story: view.story, id: entity.id }, { name: entity.name, person: entity.person, actor: view.actor === entity.id });
  const OPS = { name: () => ({ op: "rename", entity: entity.id, name: form.text("name") }), person: () => ({ op: "kind", entity: entity.id, person: form.value("person") }),
    actor: () => ({ op: "actor", entity: form.value("actor") ? entity.id : null }) };
  const submit = () => {
    const ops = Object.keys(OPS).filter((name) => form.isTyped(name)).map((name) => OPS[name]());
    if (ops.length) return form.send(ops);
    toggle(state, actions, form.key);
  };
  return form.element({ class: "controls", instead: `entity ${entity.id}` }, submit, h("p", {}, h("label", { for: "entity-name" }, t("entity")), form.field("name", { id: "entity-name", required: true, lang: view.language })),
    form.check("person", "entity-person", t("person")), form.check("actor", "entity-actor", t("actor")),
    h("p", {}, form.button("entity save", t("rename")), " ", form.button("entity drop", t("drop"), () => form.send([{ op: "drop", entity: entity.id }])), " ", form.cancel()));
}

function newEntity(state, actions) {
  const { view } = state;
  const form = new Form(state, actions, { kind: "new-entity", story: view.story }, { name: "", person: false });
  const submit = () => form.send([{ op: "entity", name: form.text("name"), person: form.value("person") }]);
  return form.element({ class: "controls", instead: "new-entity" }, submit, h("p", {}, h("label", { for: "new-entity" }, t("new_entity")), form.field("name", { id: "new-entity", required: true })),
    form.check("person", "new-person", t("person")), h("p", {}, form.button("new-entity add", t("add")), form.onceTyped(form.cancel())));
}

function hints({ view }, actions) {
  const item = ({ code, message, sentences, entity, attribute }) => h("li", {}, entity !== null && sentences.length
    ? h("button", { type: "button", class: "state", "data-key": `hint ${code} ${entity} ${sentences.at(-1)} ${attribute}`, onclick: () => actions.focus({ entity, sentence: sentences[sentences.length - 1] }) }, message) : message);
  return h("section", { class: "card hints", "aria-label": t("hints") }, h("h3", {}, t("hints")), view.hints.length ? h("ul", {}, view.hints.map(item)) : h("p", { class: "soft" }, t("no_hints")));
}

function keys() {
  return h("details", { class: "card" }, h("summary", {}, t("keys")), h("dl", { class: "keys" }, t("key_list").map(([key, effect]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, effect)])));
}
