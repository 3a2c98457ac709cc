// Try: stories in, verdicts of the runs out, while one types.
import { Refused, ask } from "./api.js";
import { answerCard } from "./answer.js";
import { announce, fill, h } from "./dom.js";
import { EXAMPLES } from "./examples.js";
import { t } from "./words.js";

/** Milliseconds without a key before the runs are asked. */
const PAUSE = 300;
const DECODINGS = ["pair", "threshold", "contrast"];

const state = { texts: ["", ""], names: ["", ""], runs: [], decode: "", selected: null, isRead: false };
/** Run -> { request, answer, before, held, error }. */
const asked = new Map();

const lines = (text) => text.split(/\r\n|\r|\n/).map((line) => line.trim()).filter(Boolean);
const names = (text) => [...new Set(text.split(/[,;，、；]/).map((name) => name.trim()).filter(Boolean))];

function hashOf() {
  const { texts, names, runs, decode } = state;
  const parts = { s1: texts[0], s2: texts[1], e1: names[0], e2: names[1], runs: runs.join("|"), decode };
  return new URLSearchParams(Object.entries(parts).filter(([, value]) => value)).toString();
}

function setHash(hash) {
  try {
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname);
  } catch { /* Safari and Firefox limit how often; the address stays */ }
}

/** The stories and settings in the hash of the address: what is shared by copying it. */
const toHash = () => setHash(hashOf());

/** On another tab the address has no stories: they would open Try at the next load. They are there again after it. */
export function keepStories() {
  try {
    sessionStorage.setItem("tiered-try", hashOf());
  } catch { /* not kept */ }
  setHash("");
}

function keptStories() {
  try {
    return sessionStorage.getItem("tiered-try") ?? "";
  } catch {
    return "";
  }
}

function fromHash(models) {
  const parts = new URLSearchParams(location.hash.slice(1) || keptStories());
  const part = (name) => parts.get(name) ?? "";
  state.texts = [part("s1"), part("s2")];
  state.names = [part("e1"), part("e2")];
  state.decode = DECODINGS.includes(part("decode")) ? part("decode") : "";
  const known = models.map((model) => model.name);
  const runs = part("runs").split("|").filter((name) => known.includes(name));
  state.runs = runs.length ? runs : known.slice(0, 2);
  state.isRead = true;
}

/** The question as JSON, or why it can't be asked yet. */
function question() {
  const stories = state.texts.map(lines).map((sentences, s) => {
    const entities = names(state.names[s]);
    return entities.length ? { sentences, entities } : { sentences };
  });
  const [first, second] = stories.map((story) => story.sentences);
  if (!first.length && !second.length) return { why: t("write") };
  if (first.length < 2) return { why: t("two_sentences", 1) };
  if (second.length === 1) return { why: t("two_sentences", 2) };
  if (first.join("\n") === second.join("\n")) return { why: t("same") };
  return { body: { stories: second.length ? stories : [stories[0]] } };
}

/** Whether the address has stories; they are read when the page is shown. */
export function hasStories() {
  const has = new URLSearchParams(location.hash.slice(1)).has("s1");
  if (has) state.isRead = false;
  return has;
}

export function tryPage(models) {
  if (state.isRead) toHash();
  else fromHash(models);
  const results = h("div", { class: "results" });
  const note = h("p", { class: "fine", id: "note" });
  let timer;

  const show = () => {
    const cards = state.runs.map((run) => answerCard(run, asked.get(run) ?? {}, state, { select, hold }));
    fill(results, cards);
  };
  const select = (selected) => {
    state.selected = selected;
    show();
  };
  const hold = (run) => {
    const known = asked.get(run);
    known.held = known.held ? null : known.answer;
    show();
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      toHash();
      askAll(models, show, note);
    }, PAUSE);
  };
  const set = (list, s, value) => {
    state[list][s] = value;
    later();
  };

  const editor = (s) => {
    const hint = s ? t("second") : t("one_a_line");
    return h("div", { class: "editor" },
      h("label", { for: `story${s}` }, t("story", s + 1)), h("span", { class: "fine", id: `hint${s}` }, hint),
      h("textarea", { id: `story${s}`, rows: 6, value: state.texts[s], spellcheck: false, "aria-describedby": `hint${s}`,
        oninput: (event) => set("texts", s, event.target.value) }),
      h("label", { for: `names${s}`, class: "soft" }, t("entities")),
      h("input", { id: `names${s}`, value: state.names[s], placeholder: t(s ? "entities_hint_second" : "entities_hint"), autocomplete: "off",
        oninput: (event) => set("names", s, event.target.value) }));
  };
  const editors = h("div", { class: "editors" });
  const showEditors = () => editors.replaceChildren(editor(0), editor(1));
  const write = (texts) => {
    Object.assign(state, { texts: [...texts], names: ["", ""], selected: null });
    asked.clear();
    showEditors();
    later();
    show();
  };

  showEditors();
  const element = h("div", { class: "wide" },
    h("h2", { class: "sr" }, t("try")), editors, controls(models, { write, later, show }), note,
    models.length ? results : h("p", { class: "card" }, t("no_models")));
  show();
  askAll(models, show, note);
  const leave = () => clearTimeout(timer);
  return { element, leave };
}

/** The row below the editors: examples, runs, decoding, link. */
function controls(models, { write, later, show }) {
  const example = h("select", { id: "example", onchange: (event) => write(EXAMPLES[event.target.value].stories) },
    h("option", { value: "", disabled: true, selected: true }, t("choose")),
    EXAMPLES.map((example, i) => h("option", { value: i, lang: example.lang }, example.title)));
  const decode = h("select", { id: "decode", onchange: (event) => { state.decode = event.target.value; later(); } },
    h("option", { value: "" }, t("decode_own")), DECODINGS.map((name) => h("option", { value: name }, t(`decode_${name}`))));
  decode.value = state.decode;
  const choose = (name, isChosen) => {
    state.runs = models.map((model) => model.name).filter((other) => (other === name ? isChosen : state.runs.includes(other)));
    show();
    later();
  };
  const runs = models.length > 1 && h("fieldset", {}, h("legend", {}, t("runs")), models.map(({ name }) =>
    h("label", { class: "check" }, h("input", { type: "checkbox", checked: state.runs.includes(name),
      onchange: (event) => choose(name, event.target.checked) }), name)));
  const copy = async () => {
    toHash();
    announce("");
    const text = await navigator.clipboard.writeText(location.href).then(() => t("copied"), () => t("copy_by_hand"));
    document.getElementById("copied").textContent = text;
    announce(text);
  };
  return h("div", { class: "controls" },
    h("p", {}, h("label", { for: "example" }, t("example")), example),
    h("p", {}, h("label", { for: "decode" }, t("decode")), decode), runs,
    h("p", { class: "end" }, h("span", { class: "fine", id: "copied" }), " ",
      h("button", { type: "button", id: "clear", onclick: () => write(["", ""]) }, t("clear")), " ",
      h("button", { type: "button", id: "copy", onclick: copy }, t("copy"))));
}

/** Asks every chosen run. A request that a newer one overtakes is given up. */
function askAll(models, show, note) {
  const { body, why } = question();
  note.textContent = why ?? "";
  for (const model of models.filter(({ name }) => state.runs.includes(name))) {
    const known = asked.get(model.name) ?? {};
    asked.set(model.name, known);
    known.request?.abort();
    Object.assign(known, { error: null, isEnglish: false });
    known.isStale = Boolean(body);
    if (!body) {
      known.answer = null;
      continue;
    }
    if (body.stories.length === 1 && !model.single_story) {
      Object.assign(known, { answer: null, error: t("needs_two"), isStale: false });
      continue;
    }
    known.request = new AbortController();
    askOne(model.name, body, known, show);
  }
  show();
}

async function askOne(model, body, known, show) {
  try {
    const answer = await ask("explain", { body, signal: known.request.signal, model, decode: state.decode || undefined });
    const isNew = JSON.stringify(answer) !== JSON.stringify(known.answer);
    Object.assign(known, { answer, before: isNew ? known.answer : known.before, error: null, isStale: false });
  } catch (error) {
    if (!(error instanceof Refused)) {
      if (error.name === "AbortError") return;
      throw error;
    }
    const isEnglish = Boolean(error.message) && error.status !== 401; // else the words are the page's
    Object.assign(known, { answer: null, error: error.message || t("unreachable"), isEnglish, isStale: false });
  }
  show();
  announce(document.querySelector(".verdict")?.textContent ?? known.error ?? "");
}
