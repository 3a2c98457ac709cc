"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const root = document.documentElement;

  // Pages opened from disk may have no storage.
  const store = {
    get: () => { try { return localStorage.getItem("tiered-theme"); } catch { return null; } },
    set: (theme) => { try { localStorage.setItem("tiered-theme", theme); } catch { /* not kept */ } },
  };
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches);
  const button = byId("theme");
  const named = () => { button.textContent = isDark() ? "Light" : "Dark"; button.setAttribute("aria-label", `Use ${isDark() ? "light" : "dark"} colours`); };
  if (["light", "dark"].includes(store.get())) root.dataset.theme = store.get();
  button.hidden = false;
  named();
  prefersDark.addEventListener("change", named);
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    store.set(root.dataset.theme);
    named();
  });

  const form = byId("filters");
  if (!form) return;
  form.hidden = false;
  const pairs = [...document.querySelectorAll(".pair")];
  const told = (pair) => [pair.querySelector(".id"), ...pair.querySelectorAll(".story .text")].map((e) => e.textContent).join(" ").toLowerCase();
  const texts = new Map(pairs.map((pair) => [pair, told(pair)]));
  const wanted = { tier: "", kind: "", set: "" };
  const search = byId("search");

  const apply = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (pair) =>
      Object.entries(wanted).every(([key, value]) => !value || pair.dataset[key] === value) &&
      words.every((word) => texts.get(pair).includes(word));
    let shown = 0;
    for (const pair of pairs) {
      pair.hidden = !fits(pair);
      if (!pair.hidden) shown += 1;
    }
    byId("count").textContent = `${shown} of ${pairs.length} pairs`;
    byId("none").hidden = shown > 0;
  };
  for (const choice of form.querySelectorAll("[data-filter]")) {
    choice.addEventListener("click", () => {
      const { filter, value } = choice.dataset;
      wanted[filter] = value;
      for (const other of form.querySelectorAll(`[data-filter="${filter}"]`)) {
        other.setAttribute("aria-pressed", String(other === choice));
      }
      apply();
    });
  }
  byId("set")?.addEventListener("change", (event) => { wanted.set = event.target.value; apply(); });
  search.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  apply();

  const goTo = (pair) => { pair.focus({ preventScroll: true }); pair.scrollIntoView({ block: "start" }); };
  const step = (by) => {
    const shown = pairs.filter((pair) => !pair.hidden);
    const at = shown.indexOf(document.activeElement.closest(".pair"));
    const next = shown[Math.min(Math.max(at + by, 0), shown.length - 1)];
    if (next) goTo(next);
  };
  // A link to a pair shows it, whatever is filtered.
  for (const link of document.querySelectorAll(".to-pair")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const pair = byId(link.getAttribute("href").slice(1));
      pair.hidden = false;
      goTo(pair);
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input, select, textarea")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const pair = document.activeElement.closest(".pair");
    if (event.key === "j" || (event.key === "ArrowDown" && pair === document.activeElement)) step(1);
    else if (event.key === "k" || (event.key === "ArrowUp" && pair === document.activeElement)) step(-1);
    else if (event.key === "o" && pair) { const details = pair.querySelector("details"); details.open = !details.open; }
    else if (event.key === "/") { search.focus(); }
    else return;
    event.preventDefault();
  });
})();
