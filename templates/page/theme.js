"use strict";
// Pages opened from disk may have no storage.
const kept = {
  get: (name) => { try { return localStorage.getItem(`tiered-${name}`); } catch { return null; } },
  set: (name, value) => { try { localStorage.setItem(`tiered-${name}`, value); } catch { /* not stored */ } },
};

(() => {
  const root = document.documentElement;
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches);
  const button = document.getElementById("theme");
  const named = () => { button.textContent = isDark() ? "Light" : "Dark"; button.setAttribute("aria-label", `${button.textContent} colours`); };
  if (["light", "dark"].includes(kept.get("theme"))) root.dataset.theme = kept.get("theme");
  button.hidden = false;
  named();
  prefersDark.addEventListener("change", named);
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    kept.set("theme", root.dataset.theme);
    named();
  });
})();
