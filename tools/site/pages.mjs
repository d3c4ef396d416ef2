// Which pages the site has, in the order of its navigation.
import { readdirSync } from "node:fs";
import { join } from "node:path";

/** Groups of pages: source in the repository, address in the site. */
export function siteGroups(root) {
  const below = folder =>
    readdirSync(join(root, folder))
      .filter(name => name.endsWith(".md") && name !== "README.md")
      .sort()
      .map(name => page(`${folder}/${name}`));
  return [
    { title: "Start", pages: [page("README.md", "index.html")] },
    { title: "Guides", pages: below("docs/guides") },
    {
      title: "Reference",
      pages: [
        ...["commands", "options", "errors"].map(name => page(`docs/${name}.md`)),
        page("docs/api.md"),
        ...below("docs/dialects"),
      ],
    },
    {
      title: "Project",
      pages: [
        page("SECURITY.md"),
        ...["reliability", "performance", "platform-check", "release"].map(name => page(`docs/${name}.md`)),
        ...["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(name => page(name)),
        ...["glossary", "style"].map(name => page(`docs/${name}.md`)),
      ],
    },
    { title: "Decisions", pages: [page("docs/decisions/README.md"), ...below("docs/decisions")] },
  ];
}

function page(source, address) {
  const own = source
    .replace(/^docs\//, "")
    .replace(/README\.md$/, "index.md")
    .toLowerCase();
  return { source, address: address ?? own.replace(/\.md$/, ".html") };
}
