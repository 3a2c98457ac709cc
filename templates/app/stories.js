// The list of the project's stories: which comes next, new ones, import and export.
import { ask } from "./api.js";
import { Shown, h, keep, once } from "./dom.js";
import { Form, drafts, isTyped, textOf, toggle } from "./forms.js";
import { t } from "./words.js";

const ORDERS = ["project", "unsure", "disagree"];
/** Remarks about an imported file that are shown. */
const SHOWN = 5;

export function storyList(state, actions) {
  const order = h("select", { id: "order", "data-key": "order", onchange: (event) => sort(state, actions, event.target.value) },
    ORDERS.map((by) => h("option", { value: by, disabled: by !== "project" && !actions.models.length }, t(`order_${by}`))));
  order.value = state.by;
  return keep(once(actions, "stories", () => h("nav", { class: "stories", "aria-label": t("stories") })),
    h("p", {}, h("label", { for: "order" }, t("order")), order),
    state.order ? h("p", { class: "fine" }, t("ordering", state.order.ready, state.order.total)) : null,
    lines(state, actions), newStory(state, actions), files(actions));
}

/** Hundreds of stories take half a second to draw: only lines that changed are drawn again. */
function lines(state, actions) {
  const { list, known } = once(actions, "lines", () => ({ list: h("ul", { "data-scroll": "stories" }), known: new Shown() }));
  const withDrafts = new Set([...drafts.values()].filter(isTyped).map(({ story }) => story));
  return keep(list, sorted(state).map((story) => {
    const isOpen = state.view?.story === story.story, hasDraft = withDrafts.has(story.story);
    return known.get(story.story, [isOpen, hasDraft, story], () => line(story, isOpen, hasDraft, actions));
  }));
}

function line(story, isOpen, hasDraft, actions) {
  return h("li", {}, h("button", { type: "button", "data-key": `story ${story.story}`, "aria-current": isOpen ? "page" : null, onclick: () => actions.open(story.story) },
    h("b", {}, story.story), h("span", {}, ` ${t(`kind_${story.kind ?? "plausible"}`)}${story.done ? ` ✓ ${t("done")}` : ""} `),
    h("span", { class: "first", lang: story.language }, story.first),
    h("span", {}, ` ${t("progress", story.labelled, story.cells)}${story.hints ? `, ${t("hint_count", story.hints)}` : ""}${hasDraft ? ` (${t("drafted")})` : ""}`)));
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
  const form = new Form(state, actions, { kind: "new story" }, { text: "" });
  if (state.form !== form.key) {
    return h("p", {}, h("button", { type: "button", "data-key": "new", onclick: () => toggle(state, actions, form.key, "new-story") }, t("new_story")), isTyped(form.draft) ? h("span", { class: "fine" }, ` ${t("drafted")}`) : null);
  }
  const submit = () => form.send([{ op: "add_story", sentences: form.text("text").split("\n").map((line) => line.trim()).filter(Boolean) }]);
  return form.element({ instead: "new" }, submit, h("label", { for: "new-story" }, t("new_story_label")), form.field("text", { tag: "textarea", id: "new-story", rows: 5 }),
    h("p", {}, form.button("new-story add", t("add")), " ", form.cancel()));
}

function files(actions) {
  const exported = (format) => actions.attempt(async () => {
    await actions.saved(t("export_waits"));
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
    const more = findings.length - SHOWN;
    actions.say([t("imported", stories.length), ...findings.slice(0, SHOWN), ...(more > 0 ? [t("more_findings", more)] : [])].join(" "));
  });
  return h("div", { class: "files" },
    h("p", {}, h("button", { type: "button", "data-key": "trip", onclick: () => exported("trip") }, t("export_trip")), " ",
      h("button", { type: "button", "data-key": "gita", onclick: () => exported("gita") }, t("export_gita"))),
    h("p", {}, h("label", { for: "import" }, t("import")), h("input", { id: "import", "data-key": "import", type: "file", accept: ".json,application/json", onchange: imported })));
}
