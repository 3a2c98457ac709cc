// The list of the project's stories: which comes next, new ones, import and export.
import { ask } from "./api.js";
import { h, keep } from "./dom.js";
import { sendForm, textOf } from "./forms.js";
import { t } from "./words.js";

const ORDERS = ["project", "unsure", "disagree"];

export function storyList(state, actions) {
  const order = h("select", { id: "order", "data-key": "order", onchange: (event) => sort(state, actions, event.target.value) },
    ORDERS.map((by) => h("option", { value: by, disabled: by !== "project" && !actions.models.length }, t(`order_${by}`))));
  order.value = state.by;
  return keep(listOf(actions).nav,
    h("p", {}, h("label", { for: "order" }, t("order")), order),
    state.order ? h("p", { class: "fine" }, t("ordering", state.order.ready, state.order.total)) : null,
    lines(state, actions), newStory(state, actions), files(actions));
}

/** What is drawn once for a page: the list, with its lines by story, and what it is in. */
const drawn = new WeakMap();

function listOf(actions) {
  const make = () => ({ nav: h("nav", { class: "stories", "aria-label": t("stories") }), list: h("ul", { "data-scroll": "stories" }), known: new Map() });
  if (!drawn.has(actions)) drawn.set(actions, make());
  return drawn.get(actions);
}

/** Hundreds of stories take half a second to draw: only lines that changed are drawn again. */
function lines(state, actions) {
  const { list, known } = listOf(actions);
  const all = sorted(state).map((story) => {
    const isOpen = state.view?.story === story.story;
    const text = JSON.stringify([isOpen, story]);
    if (known.get(story.story)?.text !== text) known.set(story.story, { text, line: line(story, isOpen, actions) });
    return known.get(story.story).line;
  });
  return keep(list, all);
}

function line(story, isOpen, actions) {
  return h("li", {}, h("button", { type: "button", "data-key": `story ${story.story}`, "aria-current": isOpen ? "page" : null, onclick: () => actions.open(story.story) },
    h("b", {}, story.story), h("span", {}, ` ${t(`kind_${story.kind ?? "plausible"}`)}${story.done ? ` ✓ ${t("done")}` : ""} `),
    h("span", { class: "first", lang: story.language }, story.first),
    h("span", {}, ` ${t("progress", story.labelled, story.cells)}${story.hints ? `, ${t("hint_count", story.hints)}` : ""}`)));
}

/** The stories in the order that was chosen. */
export function sorted({ project, order }) {
  if (!order) return project.stories;
  const score = new Map(order.stories.map(({ story, score }) => [story, score]));
  return [...project.stories].sort((a, b) => (score.get(b.story) ?? -1) - (score.get(a.story) ?? -1));
}

/** Asks for the order until every story is predicted, or another order is chosen. */
async function sort(state, actions, by) {
  Object.assign(state, { by, order: null });
  actions.show();
  while (by !== "project" && state.by === by) {
    const order = await actions.attempt(() => ask("annotate/order", { by, pass: actions.where().pass }));
    if (!order || state.by !== by) return;
    state.order = order;
    actions.show();
    if (order.ready >= order.total) return;
  }
}

function newStory(state, actions) {
  if (state.form?.kind !== "new") {
    return h("p", {}, h("button", { type: "button", "data-key": "new", onclick: () => { state.form = { kind: "new" }; actions.show(); document.getElementById("new-story").focus(); } }, t("new_story")));
  }
  const text = h("textarea", { id: "new-story", rows: 5, value: state.form.text ?? "", "data-key": "new-text", oninput: (event) => { state.form.text = event.target.value; } });
  const submit = (event) => {
    event.preventDefault();
    const sentences = text.value.split("\n").map((line) => line.trim()).filter(Boolean);
    sendForm(state, actions, [{ op: "add_story", sentences }], { story: null });
  };
  return h("form", { onsubmit: submit, "data-instead": "new" }, h("label", { for: "new-story" }, t("new_story_label")), text,
    h("p", {}, h("button", {}, t("add")), " ", h("button", { type: "button", onclick: () => { state.form = null; actions.show(); } }, t("cancel"))));
}

function files(actions) {
  const exported = (format) => actions.attempt(async () => {
    await actions.saved();
    const { file, left_out } = await ask("annotate/export", { format, ...actions.where() });
    const link = h("a", { href: URL.createObjectURL(new Blob([JSON.stringify(file, null, 1)], { type: "application/json" })), download: `stories-${format}.json` });
    link.click();
    URL.revokeObjectURL(link.href);
    actions.say(left_out.length ? `${t("left_out", left_out.length)} ${left_out.map(({ story, why }) => `${story}: ${why}`).join("; ")}` : "");
  });
  const imported = (event) => actions.attempt(async () => {
    const [file] = event.target.files;
    if (!file) return;
    const { stories, findings } = await actions.importText(await textOf(file, t("not_utf8", file.name)));
    await actions.reload();
    if (stories[0]) await actions.open(stories[0].story);
    actions.say([t("imported", stories.length), ...findings].join(" "));
  });
  return h("div", { class: "files" },
    h("p", {}, h("button", { type: "button", "data-key": "trip", onclick: () => exported("trip") }, t("export_trip")), " ",
      h("button", { type: "button", "data-key": "gita", onclick: () => exported("gita") }, t("export_gita"))),
    h("p", {}, h("label", { for: "import" }, t("import")), h("input", { id: "import", type: "file", accept: ".json,application/json", onchange: imported })));
}
