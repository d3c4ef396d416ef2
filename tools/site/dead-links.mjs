// Every link, image, script and stylesheet of the built site must lead to a file of the site, and every anchor to an
// element with that id. What leads to other hosts is counted and not followed.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

export function deadLinks(site) {
  const files = readdirSync(site, { recursive: true }).filter(name => name.endsWith(".html"));
  const texts = new Map(files.map(name => [join(site, name), readFileSync(join(site, name), "utf8")]));
  const dead = [];
  let followed = 0;
  let external = 0;
  for (const [file, text] of texts) {
    for (const [, target] of text.matchAll(/\s(?:href|src|srcset)="([^"]*)"/g)) {
      if (/^[a-z]+:/i.test(target)) {
        external++;
        continue;
      }
      followed++;
      const [path, anchor] = target.split("#");
      const leads = path === "" ? file : join(dirname(file), decodeURIComponent(path));
      if (!existsSync(leads)) dead.push(`${relative(site, file)}: ${target} leads nowhere`);
      else if (anchor && !texts.get(leads)?.includes(` id="${anchor}"`))
        dead.push(`${relative(site, file)}: ${target}: no such anchor`);
    }
  }
  return { dead, followed, external, pages: files.length };
}
