// Filters, links to pairs, keys. The address records the current view: `#pair-50&tier=wrong`.
(() => {
  const byId = (id) => document.getElementById(id);
  const form = byId("filters");
  if (!form) return;
  const pairs = [...document.querySelectorAll(".pair")];
  const search = byId("search");
  const selects = ["run", "set", "attribute"].map(byId).filter(Boolean);
  const choices = [...form.querySelectorAll("[data-filter]")];
  const wanted = { run: "", tier: "", differs: "", kind: "", set: "", attribute: "" };
  if (byId("run")) wanted.run = byId("run").value;
  // The pair of a link is always shown, whatever the filters are.
  let linked = null;

  // "L’acqua", "l'acqua" and "L`Acquà" match each other.
  const plain = (text) => text.replace(/[’‘ʼ`´]/g, "'").normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const textOf = (pair) => plain([...pair.querySelectorAll(".id, .story .text")].map((e) => e.textContent).join(" "));
  const texts = new Map(pairs.map((pair) => [pair, textOf(pair)]));

  // A pair has one tier for each run that was evaluated on it. The tier of the selected run counts.
  const tierOf = (pair) => pair.dataset.tier.split(" ")[Math.max(pair.dataset.run.split(" ").indexOf(wanted.run), 0)];
  const has = (pair, key, value) =>
    !value || (key === "tier" ? tierOf(pair) === value : pair.dataset[key].split(" ").includes(value) || pair.dataset[key] === value);
  const fits = (pair, words, but) =>
    Object.entries(wanted).every(([key, value]) => key === but || has(pair, key, value)) && words.every((word) => texts.get(pair).includes(word));
  const apply = () => {
    const words = plain(search.value).split(/\s+/).filter(Boolean);
    const fitting = pairs.filter((pair) => fits(pair, words));
    const shown = new Set(fitting).add(linked);
    for (const pair of pairs) pair.hidden = !shown.has(pair);
    const ofRun = pairs.filter((pair) => has(pair, "run", wanted.run)).length;
    byId("count").textContent = `${fitting.length} of ${ofRun} pairs${linked && !fitting.includes(linked) ? ", and the linked pair" : ""}`;
    byId("none").hidden = fitting.length > 0 || linked !== null;
    for (const choice of choices) {
      const { filter, value } = choice.dataset;
      choice.setAttribute("aria-pressed", String(wanted[filter] === value));
      const number = choice.querySelector("span");
      if (number) number.textContent = pairs.filter((pair) => has(pair, filter, value) && fits(pair, words, filter)).length;
    }
    for (const select of selects) select.value = wanted[select.id];
  };

  // The address holds an anchor, if any, then the filters.
  const anchor = () => location.hash.slice(1).split("&").find((part) => part && !part.includes("=")) ?? "";
  const write = (place) => {
    const filters = new URLSearchParams();
    for (const [key, value] of Object.entries(wanted)) if (value && !(key === "run" && value === byId("run").options[0].value)) filters.set(key, value);
    if (search.value) filters.set("q", search.value);
    const hash = [place, filters.toString()].filter(Boolean).join("&");
    const address = location.href.split("#")[0] + (hash && `#${hash}`);
    try { history.replaceState(null, "", address); } catch { /* the address stays as it is */ }
  };
  const read = () => {
    const parts = location.hash.slice(1).split("&").filter((part) => part.includes("="));
    if (!parts.length) return;
    const filters = new URLSearchParams(parts.join("&"));
    const offered = (key, value) =>
      choices.some((choice) => choice.dataset.filter === key && choice.dataset.value === value) ||
      selects.some((select) => select.id === key && [...select.options].some((option) => option.value === value));
    for (const key of Object.keys(wanted)) {
      const value = filters.get(key) ?? (key === "run" && byId("run") ? byId("run").options[0].value : "");
      if (offered(key, value)) wanted[key] = value;
    }
    search.value = filters.get("q") ?? "";
  };

  const goTo = (element) => {
    if (element.matches(".pair")) element.focus({ preventScroll: true });
    element.scrollIntoView({ block: "start" });
  };
  const follow = () => {
    read();
    const target = anchor() ? byId(anchor()) : null;
    linked = target?.matches(".pair") ? target : null;
    if (linked && !has(linked, "run", wanted.run)) wanted.run = linked.dataset.run.split(" ")[0];
    apply();
    if (location.hash) write(anchor());
    if (target) goTo(target);
  };
  const change = () => { linked = null; apply(); write(""); };

  for (const choice of choices) {
    choice.addEventListener("click", () => { wanted[choice.dataset.filter] = choice.dataset.value; change(); });
  }
  for (const select of selects) select.addEventListener("change", () => { wanted[select.id] = select.value; change(); });
  search.addEventListener("input", change);
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", follow);
  // A link to the pair that the address already names causes no hashchange event.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#pair-']");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) setTimeout(follow);
  });
  form.hidden = false;
  follow();
  addEventListener("load", () => { const target = anchor() && byId(anchor()); if (target) goTo(target); });

  const keys = byId("keys");
  keys.checked = kept.get("keys") !== "off";
  keys.addEventListener("change", () => kept.set("keys", keys.checked ? "on" : "off"));
  const step = (by) => {
    const shown = pairs.filter((pair) => !pair.hidden);
    const at = shown.indexOf(document.activeElement.closest(".pair"));
    const next = shown[Math.min(Math.max(at + by, 0), shown.length - 1)];
    if (next) goTo(next);
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input:not([type=checkbox]), select, textarea")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const pair = document.activeElement.closest(".pair");
    const isPair = pair !== null && pair === document.activeElement;
    const key = keys.checked ? event.key : "";
    if (key === "j" || (event.key === "ArrowDown" && isPair)) step(1);
    else if (key === "k" || (event.key === "ArrowUp" && isPair)) step(-1);
    else if (key === "o" && pair) { const all = [...pair.querySelectorAll(".more")], open = !all[0]?.open; for (const more of all) more.open = open; }
    else if (key === "/") search.focus();
    else return;
    event.preventDefault();
  });
})();
