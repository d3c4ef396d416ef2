// Markdown to HTML: headings get the anchors that GitHub gives them, links between pages lead to their HTML, and links
// to other files of the repository lead to its web pages.
import { dirname, join, posix } from "node:path";
import MarkdownIt from "markdown-it";
import { slug } from "./anchor.mjs";

/**
 * `addresses` maps sources to addresses; `asset` copies an image and returns whether the source is one; `exists` says
 * whether the repository has a file.
 */
export function renderer({ addresses, repository, asset, exists }) {
  const markdown = new MarkdownIt({ html: true, linkify: false });
  const target = (href, from) => {
    if (/^[a-z]+:/i.test(href) || href.startsWith("#")) return href;
    const [path, anchor] = href.split("#");
    const source = posix.normalize(join(dirname(from.source), decodeURIComponent(path)));
    const hash = anchor === undefined ? "" : `#${anchor}`;
    const address = addresses.get(source) ?? addresses.get(`${source.replace(/\/$/, "")}/README.md`);
    if (address !== undefined) return relativeTo(from.address, address) + hash;
    if (asset(source)) return relativeTo(from.address, source.replace(/^docs\//, ""));
    // A link to a missing file stays as it is, for the check to find.
    return exists(source) ? `${repository}/blob/main/${source}${hash}` : href;
  };
  return page => {
    const tokens = markdown.parse(page.text, {});
    const seen = new Map();
    const sections = [{ heading: "", anchor: "", text: [] }];
    for (const [i, token] of tokens.entries()) {
      if (token.type === "heading_open") {
        const heading = plain(tokens[i + 1]);
        const anchor = unique(slug(heading), seen);
        token.attrSet("id", anchor);
        sections.push({ heading, anchor, text: [] });
      } else if (token.type === "inline") {
        if (tokens[i - 1].type !== "heading_open") sections.at(-1).text.push(plain(token));
        for (const child of token.children) {
          for (const name of ["href", "src"]) {
            const value = child.attrGet(name);
            if (value !== null) child.attrSet(name, target(value, page));
          }
          if (child.type === "html_inline") child.content = retarget(child.content, page, target);
        }
      } else if (token.type === "fence" || token.type === "code_block")
        sections.at(-1).text.push(token.content);
      else if (token.type === "html_block") token.content = retarget(token.content, page, target);
    }
    return { html: markdown.renderer.render(tokens, markdown.options, {}), sections };
  };
}

function retarget(html, page, target) {
  return html
    .replaceAll(/<!--.*?-->/gs, "")
    .replaceAll(/\b(href|src|srcset)="([^"]+)"/g, (_, name, value) => `${name}="${target(value, page)}"`);
}

function plain(inline) {
  return inline.children
    .map(child => (child.type === "softbreak" ? " " : child.type === "html_inline" ? " " : child.content))
    .join("");
}

function unique(anchor, seen) {
  const count = seen.get(anchor) ?? 0;
  seen.set(anchor, count + 1);
  return count === 0 ? anchor : `${anchor}-${count}`;
}

export function relativeTo(from, to) {
  return posix.relative(posix.dirname(from), to) || posix.basename(to);
}
