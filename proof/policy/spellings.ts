// Ways of writing a path that a rule concerns.
import { pathToFileURL } from "node:url";

export function spellings(root: string, name: string): string[] {
  return [
    ...new Set([
      name,
      `${root}/${name}`,
      `./${name}`,
      `sub/../${name}`,
      `${root}/sub/../${name}`,
      `${root}//${name}`,
      `${root}/${name}/`,
      pathToFileURL(`${root}/${name}`).href,
      `file://${root}/${name}`,
      `${root}/${name.toUpperCase()}`,
      `${root}/${name.normalize("NFC")}`,
      `/proc/self/root${root}/${name}`,
    ]),
  ];
}
