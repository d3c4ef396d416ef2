// The search field in the browser. The index is a script rather than JSON, so that the site also works from files.
import { search } from "./search.mjs";

const field = document.querySelector("#search");
const list = document.querySelector("#results");
const base = document.documentElement.dataset.base;
let loading;

function loaded() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${base}search-index.js`;
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(script);
  });
  return loading;
}

async function show() {
  await loaded();
  const results = field.value.trim() === "" ? [] : search(window.searchIndex, field.value);
  list.replaceChildren(
    ...results.map(({ title, heading, address, text }) => {
      const link = document.createElement("a");
      link.href = base + address;
      link.textContent = heading === "" || heading === title ? title : `${title}: ${heading}`;
      const item = document.createElement("li");
      const more = document.createElement("small");
      more.textContent = text;
      item.append(link, more);
      return item;
    }),
  );
  list.hidden = field.value.trim() === "";
  if (results.length === 0 && !list.hidden) list.textContent = "Nothing found.";
}

field.addEventListener("focus", () => void loaded());
field.addEventListener("input", () => void show());
document.addEventListener("keydown", event => {
  if (event.key === "/" && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  } else if (event.key === "Escape") {
    field.value = "";
    list.hidden = true;
  }
});
