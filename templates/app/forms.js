// What is typed in a form is not lost: it is a draft until the server took it or somebody gives it up.
import { h } from "./dom.js";
import { t } from "./words.js";

/** Key of a form -> what was typed in it: `values`; what stood there before: `from`; the revision that was seen: `base`; whether it is being sent. */
export const drafts = new Map();

export const isTyped = (draft) => draft !== undefined && Object.keys(draft.values).length > 0;
addEventListener("beforeunload", (event) => { if ([...drafts.values()].some((draft) => isTyped(draft) && draft.kind !== "who")) event.preventDefault(); });

/** What a form is for, in words. */
const KINDS = { sentence: "sentence", first: "first_sentence", entity: "entity", "new-entity": "new_entity", location: "location" };

export const keyOf = (...parts) => parts.filter((part) => part !== undefined).join(" ");

/** A form as it is drawn: its fields are drawn from its draft. `of` is what it is for: `kind`, `story`, `id`, and the number `n` that people see. */
export class Form {
  constructor(state, actions, of, start) {
    const { view } = state;
    Object.assign(this, { state, actions, of, start, key: keyOf(of.kind, of.story, of.id), base: view?.revision, order: view?.sentences.map(({ id }) => id) ?? [], whileTyped: [] });
  }

  get draft() { return drafts.get(this.key); }
  get isSent() { return Boolean(this.draft?.isSent); }
  isTyped(name) { return this.draft !== undefined && name in this.draft.values; }
  value(name) { return this.isTyped(name) ? this.draft.values[name] : this.start[name]; }
  text(name) { return this.value(name).trim(); }

  begin() {
    const { of, key, start, base, order } = this;
    const draft = { ...of, key, from: start, base, order, before: order.slice(0, Math.max(order.indexOf(of.id), 0)), values: {}, isSent: false };
    drafts.set(key, draft);
    return draft;
  }

  type(name, value) {
    const draft = this.draft ?? this.begin();
    if (value === this.start[name]) delete draft.values[name];
    else draft.values[name] = value;
    if (!isTyped(draft)) drafts.delete(this.key);
    for (const button of this.whileTyped) button.hidden = !isTyped(draft);
  }

  field(name, { tag = "input", ...properties }) {
    return h(tag, { value: this.value(name), readOnly: this.isSent, autocomplete: "off", "data-key": properties.id, oninput: (event) => this.type(name, event.target.value), ...properties });
  }

  check(name, key, words) {
    const box = h("input", { type: "checkbox", checked: this.value(name), "data-key": key, "aria-disabled": this.isSent ? "true" : null,
      onclick: (event) => { if (this.isSent) event.preventDefault(); }, onchange: (event) => this.type(name, event.target.checked) });
    return h("label", { class: "check" }, box, words);
  }

  element({ instead, ...properties }, submit, ...children) {
    const onsubmit = (event) => {
      event.preventDefault();
      submit();
    };
    return h("form", { "data-instead": instead, onsubmit, ...properties }, children);
  }

  /** Without `press` it submits the form. While the form is being sent it keeps the focus, but does nothing. */
  button(key, words, press) {
    return h("button", { type: press ? "button" : "submit", "data-key": key, "aria-disabled": this.isSent ? "true" : null, onclick: press ? () => { if (!this.isSent) press(); } : null }, words);
  }

  /** Buttons that are of use only when something was typed. */
  onceTyped(...buttons) {
    this.whileTyped.push(...buttons);
    for (const button of buttons) button.hidden = !isTyped(this.draft);
    return buttons.flatMap((button) => [" ", button]);
  }

  cancel(words = t("cancel")) {
    return this.button(`cancel ${this.key}`, words, () => {
      this.forget(this.draft);
      this.actions.show();
    });
  }

  forget(draft) {
    const key = draft?.key ?? this.key;
    if (drafts.get(key) === draft) drafts.delete(key);
    if (this.state.form === key) this.state.form = null;
  }

  /** Sends what the form says. It is read-only until the server took or refused it; only then the draft goes, unless what is typed `stays`. */
  async send(ops, { stays = false, ...options } = {}) {
    if (this.isSent) return;
    const draft = this.draft ?? this.begin();
    draft.isSent = true;
    this.actions.show();
    const taken = () => {
      draft.isSent = false;
      if (!stays || !isTyped(draft)) this.forget(draft);
      this.actions.show();
    };
    const answer = await this.actions.edit(ops, { story: draft.story ?? null, base: draft.base, ...options, taken });
    if (answer) return;
    draft.isSent = false;
    if (!isTyped(draft)) drafts.delete(draft.key);
    this.actions.show();
  }
}

/** Opens the form of a draft, or closes it; what was typed in it, or in the form that was open before, stays. */
export function toggle(state, actions, key, field) {
  state.form = state.form === key ? null : key;
  actions.show();
  document.getElementById(field)?.focus();
}

/** Lets drafts follow their sentences: to the one that stands where another stood before, since somebody replaced that or gave the version a copy. */
export function followSentences(state, { story, sentences, revision }) {
  const ids = sentences.map(({ id }) => id);
  for (const draft of [...drafts.values()].filter((draft) => draft.kind === "sentence" && draft.story === story)) {
    const at = ids.indexOf(draft.id), instead = draft.order?.indexOf(draft.id);
    if (at >= 0) Object.assign(draft, { order: ids, before: ids.slice(0, at) });
    else if (draft.order?.length === ids.length && !draft.order.includes(ids[instead])) moveTo(state, draft, sentences[instead], revision);
    else draft.order = null; // it is gone, but may come back
  }
}

function moveTo(state, draft, { id, text }, revision) {
  const key = keyOf("sentence", draft.story, id);
  if (drafts.has(key)) return;
  drafts.delete(draft.key);
  if (state.form === draft.key) state.form = key;
  Object.assign(draft, { id, key });
  if (text === draft.from.text) draft.base = revision; // a copy: nobody changed what is being corrected
  drafts.set(key, draft);
}

/** Whether what a draft is for is there no more. Of a story that is not open only the story is known. */
function isGone({ view, project }, { kind, story, id }) {
  if (story === undefined) return false;
  if (view?.story !== story) return !project.stories.some((other) => other.story === story);
  if (kind === "first") return view.sentences.length > 0;
  const there = { sentence: view.sentences, entity: view.entities }[kind];
  return Boolean(there) && !there.some((other) => other.id === id);
}

/** What was typed for something that somebody removed meanwhile. */
export function lostDrafts(state, actions) {
  const lost = [...drafts.values()].filter((draft) => isTyped(draft) && isGone(state, draft));
  if (!lost.length) return null;
  const item = (draft) => {
    const form = new Form(state, actions, draft, draft.from);
    const what = [t(KINDS[draft.kind], draft.n), t("story", draft.story), draft.from.text].filter(Boolean).join(", ");
    const text = Object.values(draft.values).filter((value) => typeof value === "string").join(", ");
    const after = draft.before.findLast((id) => state.view?.sentences.some((other) => other.id === id)) ?? null;
    const insert = () => form.send([{ op: "insert", after, text: text.trim() }]);
    const canInsert = ["sentence", "first"].includes(draft.kind) && state.view?.story === draft.story;
    return h("li", {}, h("label", {}, what, h("textarea", { rows: 2, readOnly: true, value: text, "data-key": `lost ${draft.key}`, "data-stand-in": keyOf(draft.kind === "sentence" ? "edit" : draft.kind, draft.id) })),
      h("p", {}, canInsert ? [form.button(`insert ${draft.key}`, t("insert_here"), insert), " "] : null, form.cancel(t("discard"))));
  };
  return h("section", { class: "card wrong-edge lost", "aria-label": t("lost_drafts") }, h("h3", {}, t("lost_drafts")), h("ul", {}, lost.map(item)));
}

/** The text of a file. Bytes that are not UTF-8 are refused: read otherwise, letters would be destroyed. */
export async function textOf(file, refused) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch (error) {
    throw error instanceof TypeError ? new Error(refused) : error;
  }
}
