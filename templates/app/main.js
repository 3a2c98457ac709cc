// The page: tabs, language, theme.
import { ask, useToken } from "./api.js";
import { announce, fill, h, memory } from "./dom.js";
import { knowAttributes, language, setLanguage, t } from "./words.js";
import { annotatePage } from "./annotate.js";
import { hasStories, keepStories, tryPage } from "./try.js";

const main = document.getElementById("main");
const themes = ["auto", "light", "dark"];
let theme = memory.get("theme") ?? "auto";
let models = [];
let hasProject = false;
let tab = hasStories() ? "try" : memory.get("tab");
let shown;

function showTheme() {
  const root = document.documentElement;
  if (theme === "auto") delete root.dataset.theme;
  else root.dataset.theme = theme;
  document.getElementById("theme").textContent = `${t("theme")}: ${t(`theme_${theme}`)}`;
}

function showFrame() {
  document.documentElement.lang = language();
  document.getElementById("skip").textContent = t("skip");
  const select = document.getElementById("language");
  select.value = language();
  select.setAttribute("aria-label", t("language"));
  document.getElementById("tabs").setAttribute("aria-label", t("pages"));
  showTheme();
}

function showPage() {
  shown?.leave?.();
  const pages = { try: tryPage, ...(hasProject ? { annotate: annotatePage } : {}) };
  if (!pages[tab]) tab = hasProject ? "annotate" : "try";
  const open = (name) => {
    if (tab === "try" && name !== "try") keepStories();
    tab = name;
    memory.set("tab", name);
    showPage();
  };
  fill(document.getElementById("tabs"), hasProject ? Object.keys(pages).map((name) =>
    h("button", { type: "button", "data-key": name, "aria-current": name === tab ? "page" : null, onclick: () => open(name) }, t(name))) : null);
  shown = pages[tab](models);
  fill(main, shown.element);
  document.title = `${t(tab)} – tiered`;
}

/** Without the token nothing is answered; a person may paste it. */
function askForToken(message) {
  const input = h("input", { id: "token", "data-key": "token", type: "password", autocomplete: "off", required: true, value: document.getElementById("token")?.value ?? "" });
  const submit = (event) => {
    event.preventDefault();
    useToken(input.value);
    start(true);
  };
  fill(main, h("form", { class: "card narrow", onsubmit: submit },
    h("h2", {}, t("closed")), h("p", {}, t("closed_why")), message ? h("p", { class: "wrong" }, message) : null,
    h("label", { for: "token" }, t("address")), input, h("button", { "data-key": "open-token" }, t("open"))));
}

async function start(isTyped = false) {
  showFrame();
  try {
    const [known, words] = await Promise.all([ask("models"), ask("words")]);
    models = known.models;
    hasProject = known.project;
    knowAttributes(words.attributes);
    showPage();
  } catch (error) {
    if (error.status === 401) askForToken(isTyped ? error.message : null);
    else fill(main, h("p", { class: "card wrong" }, error.message || t("unreachable")));
    announce(main.textContent);
  }
}

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the hash of the address holds the stories
  main.focus();
});
document.getElementById("language").addEventListener("change", (event) => {
  setLanguage(event.target.value);
  showFrame();
  if (shown) showPage();
  else start(Boolean(document.querySelector("#main .wrong")));
});
document.getElementById("theme").addEventListener("click", () => {
  theme = themes[(themes.indexOf(theme) + 1) % themes.length];
  memory.set("theme", theme);
  showTheme();
});
addEventListener("hashchange", () => {
  if (!shown) return start(); // with a token, perhaps
  if (!hasStories()) return;
  tab = "try"; // a link that was shared, opened in this tab
  showPage();
});
start();
