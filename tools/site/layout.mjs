// The frame of a page: search and navigation at the side, the page itself beside them.
import { relativeTo } from "./markdown.mjs";

export function layout({ page, html, groups }) {
  const base = "../".repeat(page.address.split("/").length - 1);
  const navigation = groups.map(
    ({ title, pages }) =>
      `<h2>${escaped(title)}</h2>\n<ul>\n${pages
        .map(
          other =>
            `<li><a href="${relativeTo(page.address, other.address)}"${other.address === page.address ? ' aria-current="page"' : ""}>${escaped(other.title)}</a></li>`,
        )
        .join("\n")}\n</ul>`,
  );
  return `<!doctype html>
<html lang="en" data-base="${base}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(page.title)} | polyfs</title>
<link rel="stylesheet" href="${base}style.css">
<script src="${base}client.js" defer></script>
</head>
<body>
<nav aria-label="Pages">
<input id="search" type="search" placeholder="Search (press /)" aria-label="Search the documentation">
<ol id="results" hidden></ol>
${navigation.join("\n")}
</nav>
<main>
${html}
</main>
</body>
</html>
`;
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
