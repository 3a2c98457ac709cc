// Annotate: the stories of a project, and one of them at work.
import { ask } from "./api.js";
import "./annotate-words.js";
import { mark } from "./conflict.js";
import { Shown, announce, fill, h, keep, memory, putOff } from "./dom.js";
import { Edits } from "./edits.js";
import { Form, followSentences } from "./forms.js";
import { accepted, firstCell, hasCell, labelsSoFar, openProposals } from "./grid.js";
import { nextOpen, pressed } from "./keys.js";
import { clashPanel, listen, requireOwn } from "./others.js";
import { noStory, storyPane } from "./story.js";
import { sorted, storyList } from "./stories.js";
import { language, t } from "./words.js";

const POLL = 2000;
const NO_PROPOSALS = { run: null, cells: [], conflict: [] };

/** Stays when the language changes. */
const state = {
  who: memory.get("who") ?? "", pass: memory.get("pass") ?? "main", bound: 0.5, by: "project", project: null, view: null, words: [],
  proposals: null, asked: null, dismissed: new Set(), saving: new Set(), at: null, waiting: null, picked: null, half: null, halfBase: 0, form: null, note: "", clashes: [], unsaved: null, refusals: [], refused: 0, order: null,
};
/** What the server takes for a name and for a pass. */
const isWho = (who) => /^\P{Cc}{1,40}$/u.test(who) && who.trim() === who;
const isPass = (pass) => /^[a-z0-9-]{1,32}$/.test(pass);
const sign = () => { state.isSigned = isWho(state.who) && isPass(state.pass); };
sign();
state.isWrong = state.who !== "" && !state.isSigned; // it was remembered

let edits;
let showNow; // of the page that is shown
let drawn = null; // the view that is on the page: the newest one may wait for the end of a click or of dragging

export function annotatePage(models) {
  const element = h("div", { class: "wide" }), columns = h("div", { class: "annotate" }), alerts = h("div", { role: "alert" }), known = new Shown();
  let timer, isLeft = false, isDragging = false, isLoading = false;
  const where = () => ({ pass: state.pass, who: state.who });
  const run = () => models[0]?.name;

  const show = () => {
    if (isLeft && show !== showNow) return showNow(); // something that began on this page ended
    if (isLeft || isDragging || putOff(show)) return; // to rebuild what is dragged would end the dragging
    if (!state.isSigned) return fill(element, whoForm(state, { show, begin }));
    const signed = h("p", { class: "signed soft" }, t("signed", state.who, state.pass), " ", h("button", { type: "button", class: "chip", "data-key": "change", onclick: () => { Object.assign(state, { who: "", isSigned: false, isWrong: false }); show(); } }, t("change")));
    if (!state.project) return fill(element, signed, keep(alerts, refusals()), h("p", { class: "soft" }, state.note || t("working")));
    fill(element, () => [h("h2", { class: "sr", tabindex: "-1", "data-stand-in": "" }, t("annotate")), signed,
      keep(alerts, unsaved(), refusals()), state.clashes.length ? clashPanel(state, edits.waiting - 1) : null,
      h("p", { class: state.note ? "card" : "", role: "status" }, state.note),
      keep(columns, storyList(state, actions), state.view ? storyPane(state, actions) : noStory(state, actions))]);
    drawn = state.view;
    if (state.clashes.length && !state.clashes[0].isShown) showClash(state.clashes[0]);
  };
  const unsaved = () => {
    if (!state.unsaved) return null;
    const text = state.unsaved.kind === "io" ? t("unsaved_why", state.unsaved.message) : t("unsaved");
    return known.get("unsaved", text, () => h("p", { class: "card wrong", id: "unsaved" }, text));
  };
  /** What was refused stays until it is dismissed; each is an element of its own, so that it is read out once. */
  const refusals = () => state.refusals.map((refusal) => known.get(refusal.n, "", () => h("p", { class: "card wrong" }, `${t("refused", refusal.text)} `,
    h("button", { type: "button", class: "chip", "data-key": `dismiss ${refusal.n}`, onclick: () => { state.refusals = state.refusals.filter((other) => other !== refusal); show(); } }, t("dismiss")))));
  /** Nothing is sent until it is decided: it must be seen. After that the annotator goes on where the clash came. */
  const showClash = (clash) => {
    clash.isShown = true;
    const panel = document.getElementById("clash");
    panel?.scrollIntoView({ block: "center" });
    panel?.focus({ preventScroll: true });
  };
  const decided = (clash, decide) => (decision) => {
    state.clashes = state.clashes.filter((other) => other !== clash);
    show();
    focusKey(clash.from);
    decide(decision);
  };
  const say = (text) => {
    state.note = text;
    announce(text);
    show();
  };
  /** Does what asks the server; a refusal is shown. */
  const attempt = async (work) => {
    try {
      return await work();
    } catch (error) {
      if (!error.isTold) tell(error.message || t("unreachable"));
      return null;
    }
  };
  /** Says what went wrong, even if it is that the story can't be drawn: then the list of stories is shown alone. */
  const tell = (text) => {
    try {
      say(text);
    } catch {
      state.view = null;
      fill(element, h("p", { class: "card wrong", role: "alert" }, text), keep(columns, storyList(state, actions)));
    }
  };

  const told = (what, answer, decide) => {
    if (what === "view") {
      if (answer.story !== undefined && answer.story !== state.view?.story) return; // it comes late: another story is open now
      state.note = answer.view ? setView(answer.view) : "";
      if (state.note) announce(state.note);
      if (answer.view === null) state.view = null; // its story was removed
    } else if (what === "clash") {
      const clash = { error: answer, from: document.activeElement.dataset.key };
      clash.decide = decided(clash, decide);
      state.clashes.push(clash);
      announce(t("clash"));
    } else if (what === "refused") {
      const text = answer.message || t("unreachable");
      state.refused += 1;
      state.refusals = [...state.refusals.filter((other) => other.text !== text), { text, n: state.refused }];
    } else if (what === "waiting" ? !state.clashes.length : state.unsaved?.message === answer?.message) {
      return;
    } else if (what === "unsaved") {
      state.unsaved = answer;
    }
    show();
  };

  /** Shows a story. Returns what is to be said. */
  const setView = (view) => {
    const isOther = view.story !== state.view?.story, isFirst = isOther || !firstCell(state.view);
    if (isOther) {
      // The same cell or field of another story must not take the keys.
      if (document.activeElement.closest(".grid, .panel, .editing, .pane form")) document.getElementById("title")?.focus({ preventScroll: true });
      Object.assign(state, { proposals: null, asked: null, dismissed: new Set(), at: null, waiting: null, picked: null, half: null });
    } else if (view.revision < state.view.revision) return ""; // it was overtaken
    state.view = view;
    followSentences(state, view);
    const isLost = state.at !== null && !hasCell(view, state.at);
    if (isFirst || isLost) Object.assign(state, { at: isFirst ? firstCell(view) : null, waiting: null });
    if (!view.sentences.some(({ id }) => id === state.half)) state.half = null;
    const line = state.project?.stories.find((other) => other.story === view.story);
    if (line) Object.assign(line, { done: view.done, hints: view.hints.length, has_conflict: Boolean(view.conflict), labelled: view.labels.filter((cell) => Object.keys(cell.values).length).length, cells: view.sentences.length * view.entities.length });
    return isLost && document.activeElement.closest(".grid, .panel") ? t("cell_gone") : "";
  };
  const reload = async () => {
    const project = await ask("annotate/project", where());
    requireOwn(project);
    state.project = project;
    edits.base = state.project.revision;
  };
  const open = (story) => attempt(async () => {
    setView(await ask("annotate/story", { story, ...where() }));
    state.note = "";
    memory.set("story", story);
    show();
    await propose();
  });
  const propose = async () => {
    const { story, entities, sentences } = state.view;
    if (!models.length) return;
    if (!entities.length || !sentences.length) {
      state.proposals = null;
      return;
    }
    const asked = state.asked = {};
    const keep = (proposals) => {
      if (state.asked !== asked) return; // the text changed meanwhile, or another story is open
      Object.assign(state, { proposals, asked: null });
      if (state.note === t("proposals_wait")) state.note = "";
      show();
    };
    try {
      keep(await ask("annotate/propose", { body: { story, run: run() } }));
    } catch (error) {
      keep([0, 401].includes(error.status) ? state.proposals : NO_PROPOSALS);
      throw error;
    }
  };
  /** After an edit: another story may be the one to show, or other proposals. */
  const follow = async (answer, before) => {
    if (!answer.view && state.view) return reload().then(show); // another story is open by now
    if (!answer.view) return afterRemoval(answer.story);
    if (answer.story !== before?.story) {
      await reload();
      return open(answer.story);
    }
    await reload();
    if (shape(before) !== shape(answer.view)) await propose();
    show();
  };
  /** The plausible story in the place of its version, else the first one. */
  const afterRemoval = async (story) => {
    await reload();
    const { stories } = state.project;
    const next = stories.find((other) => other.story === story.split("-")[0]) ?? stories[0];
    if (next) await open(next.story);
    else show();
  };
  // The list and the view may be newer than what is on the page, and a form older: what was seen is what counts.
  const edit = (ops, { story = drawn?.story ?? null, taken, then, base = story ? drawn?.revision : undefined } = {}) => attempt(async () => {
    const before = drawn;
    const labels = ops.filter(({ op }) => op === "labels").map((op) => ({ ...op, story }));
    labels.forEach((op) => state.saving.add(op));
    const answer = await edits.edit(story, ops, base).finally(() => labels.forEach((op) => state.saving.delete(op)));
    taken?.();
    if (shape(before) !== shape(answer.view)) await follow(answer, before);
    then?.(answer);
    return answer;
  });

  const focus = (at) => {
    state.at = at;
    show();
    focusKey(`cell ${at.entity} ${at.sentence}`);
  };
  const labelsOp = (cells) => cells.map(({ entity, sentence, values }) => ({ op: "labels", entity, sentence, values }));
  const waitForProposals = () => {
    if (!state.asked) attempt(propose); // the server did not answer
    say(t("proposals_wait"));
  };
  const proposed = (cells, bound = 0) => cells.map((at) => ({ ...at, values: accepted(openProposals(state, at.entity, at.sentence).filter(({ probability }) => probability >= bound)) }))
    .filter(({ values }) => Object.keys(values).length);
  const step = (undo) => attempt(async () => {
    const before = state.view;
    await follow(await (undo ? edits.undo() : edits.redo()), before);
  });

  const actions = {
    show, edit, open, say, attempt, focus, propose, reload, where, models,
    saved: (meanwhile) => {
      if (edits.waiting) say(meanwhile);
      return edits.settled();
    },
    key: (event) => { if (pressed(event, state, actions)) { event.preventDefault(); } },
    go: (at) => { if (state.at?.entity !== at.entity || state.at?.sentence !== at.sentence) { Object.assign(state, { at, waiting: null }); show(); } },
    wait: (attribute) => { state.waiting = attribute; show(); },
    set: (at, values) => edit(labelsOp([{ ...at, values }])),
    accept: (cells) => { const found = proposed(cells); if (found.length) edit(labelsOp(found)); },
    acceptAndGo: (at) => {
      const found = proposed([at]);
      const next = nextOpen(state, at);
      const entity = state.view.entities.find((other) => other.id === at.entity);
      const isBlank = !Object.keys(labelsSoFar(state, at.entity, at.sentence)).length && entity.mentioned.includes(at.sentence);
      if (found.length) edit(labelsOp(found));
      else if (models.length && (state.asked || !state.proposals)) return waitForProposals(); // it is not known yet that nothing is proposed
      else if (isBlank) edit(labelsOp([{ ...at, values: { [entity.person ? "conscious" : "exist"]: 2 } }]));
      focus(next);
    },
    acceptSentence: (sentence) => {
      const found = proposed(state.view.entities.map(({ id }) => ({ entity: id, sentence })), state.bound);
      if (found.length) edit(labelsOp(found));
      const next = state.view.sentences[state.view.sentences.findIndex(({ id }) => id === sentence) + 1];
      if (next) focus({ entity: state.view.entities[0]?.id, sentence: next.id });
    },
    dismiss: ({ entity, sentence }) => { state.dismissed.add(`${entity} ${sentence}`); show(); },
    mark: (sentence) => mark(state, actions, sentence),
    neighbour: (by) => {
      const stories = sorted(state);
      const next = stories[stories.findIndex(({ story }) => story === state.view.story) + by];
      if (next) open(next.story).then(() => state.at && focus(state.at));
    },
    undo: () => step(true), redo: () => step(false),
    drag: (is) => { isDragging = is; show(); },
    importText: (text) => edits.send("annotate/import", { text }),
  };

  const showOthers = async (others) => {
    await reload();
    const before = state.view;
    const here = others.filter((event) => event.group === before?.group);
    let lost = "";
    const isGone = before && !state.project.stories.some(({ story }) => story === before.story);
    if (isGone) {
      state.view = null;
      await afterRemoval(before.story);
    } else if (here.length) {
      lost = setView(await ask("annotate/story", { story: before.story, ...where() }));
    }
    const { who, what } = (isGone && here.length ? here : others).at(-1);
    say(`${isGone ? t("other_removed", who, before.story) : t("other", who, what)} ${lost}`.trim());
    if (state.view && !isGone && shape(before) !== shape(state.view)) attempt(propose);
  };

  const poll = async () => {
    if (isLeft) return;
    try {
      if (state.isSigned && !state.project && !isLoading) await load();
      else if (state.isSigned && state.project) await listen(state, edits, { where, showOthers });
    } catch (error) { // the next edit or the next poll tells whether the server is gone
      if (error.isOther) told("refused", error);
    }
    timer = setTimeout(poll, POLL);
  };
  const begin = () => attempt(async () => {
    memory.set("who", state.who);
    memory.set("pass", state.pass);
    const former = edits; // what it has not sent yet is still sent, and told, but is not of this pass
    if (former) former.told = (what, ...rest) => what !== "view" && told(what, ...rest);
    edits = new Edits(where(), told);
    Object.assign(state, { project: null, view: null, order: null, by: "project" });
    await load();
  });
  const load = async () => {
    isLoading = true;
    try {
      show();
      state.words = (await ask("annotate/words", { lang: language() })).attributes;
      await reload();
    } finally {
      isLoading = false;
    }
    Object.assign(state, { heard: state.project.revision, note: "" });
    const known = state.project.stories.map(({ story }) => story);
    const last = state.view?.story ?? memory.get("story");
    const first = known.includes(last) ? last : known[0];
    if (first) await open(first);
    show();
  };

  if (state.isSigned) edits ??= new Edits(where(), told);
  edits && (edits.told = told);
  showNow = show;
  show();
  if (state.isSigned) attempt(load);
  timer = setTimeout(poll, POLL);
  return { element, leave: () => { isLeft = true; clearTimeout(timer); } };
}

/** What the proposals of a run depend on. */
const shape = (view) => JSON.stringify([view?.story, view?.sentences, view?.entities]);

function focusKey(key) {
  if (key) document.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
}

function whoForm(state, actions) {
  const form = new Form(state, actions, { kind: "who" }, { who: state.who, pass: state.pass });
  const submit = () => {
    Object.assign(state, { who: form.text("who"), pass: form.text("pass").toLowerCase() });
    sign();
    state.isWrong = !state.isSigned;
    if (state.isWrong) return actions.show();
    form.forget(form.draft);
    actions.begin();
  };
  const wrong = (isRight, words) => (state.isWrong && !isRight ? h("p", { class: "wrong", role: "alert" }, words) : null);
  return form.element({ class: "card narrow" }, submit, h("h2", {}, t("who_title")),
    h("label", { for: "who" }, t("who")), form.field("who", { id: "who", required: true, maxLength: 40, autocomplete: "name" }), wrong(isWho(state.who), t("who_wrong")), h("p", { class: "fine" }, t("who_why")),
    h("label", { for: "pass" }, t("pass")), form.field("pass", { id: "pass", required: true, maxLength: 40 }), wrong(isPass(state.pass), t("pass_wrong")), h("p", { class: "fine" }, t("pass_why")), form.button("begin", t("begin")));
}
