// What a search demands of a file, as places in its filter: the same that sift.ts finds for the bytes of a file.
import type { Need } from "../../regex/required.ts";
import type { Grams } from "./sift.ts";

export function gramsOf({ texts, any }: Need): Grams {
  const all = new Set<number>();
  for (const text of texts) {
    for (let i = 2; i < text.length; i++) {
      const gram = (text.charCodeAt(i - 2) << 16) | (text.charCodeAt(i - 1) << 8) | text.charCodeAt(i);
      all.add(Math.imul(gram, 0x9e3779b1) >>> 16);
    }
  }
  return { all: [...all], any: any.map(branches => branches.map(gramsOf)) };
}
