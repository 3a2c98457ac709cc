// Saves figures as they are drawn here, in light colours, and their numbers as comma-separated values.
(() => {
  const root = document.documentElement;

  const drawing = (figure) => {
    const svg = figure.querySelector("svg");
    const copy = svg.cloneNode(true);
    const theme = root.dataset.theme;
    root.dataset.theme = "light";
    const seen = [svg, ...svg.querySelectorAll("*")];
    [copy, ...copy.querySelectorAll("*")].forEach((element, i) => {
      const style = getComputedStyle(seen[i]);
      for (const name of ["fill", "stroke"]) if (element.hasAttribute(name)) element.setAttribute(name, style[name]);
      if (element.tagName === "text") element.setAttribute("font-family", "sans-serif");
    });
    copy.style.background = getComputedStyle(document.body).backgroundColor;
    if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
    return new XMLSerializer().serializeToString(copy);
  };
  const numbers = (figure) => {
    const quoted = (cell) => (/[",\n]/.test(cell.textContent) ? `"${cell.textContent.replaceAll('"', '""')}"` : cell.textContent);
    return [...figure.querySelectorAll("tr")].map((row) => [...row.cells].map(quoted).join(",")).join("\r\n") + "\r\n";
  };
  const formats = { svg: ["image/svg+xml", drawing], csv: ["text/csv;charset=utf-8", numbers] };

  const name = (figure) => {
    const title = figure.querySelector("figcaption").firstChild.textContent;
    let before = figure.closest(".figures");
    while (before && !before.matches(".set, h2")) before = before.previousElementSibling;
    const words = `${document.title.replace(/ · tiered$/, "")} ${before?.textContent ?? ""} ${title}`;
    return words.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 120);
  };
  for (const box of document.querySelectorAll(".save")) {
    box.hidden = false;
    box.addEventListener("click", (event) => {
      const format = event.target.dataset.save;
      if (!format) return;
      const figure = box.closest("figure");
      const [type, made] = formats[format];
      const link = document.createElement("a");
      link.href = `data:${type},${encodeURIComponent(made(figure))}`;
      link.download = `${name(figure)}.${format}`;
      link.click();
    });
  }
})();
