// Finds by the names in a path which rules could apply to it. Every match of a glob ends with the text after its last
// wildcard, so the endings are kept in a trie that is walked backwards from the end of each name: the cost does not
// grow with the number of rules.

interface TrieNode {
  readonly next: Map<number, TrieNode>;
  readonly ids: number[];
}

export class EndingIndex {
  readonly #root: TrieNode = { next: new Map(), ids: [] };

  /** `id` could apply to every name that ends with `ending`; "" is every name. */
  add(ending: string, id: number): void {
    let node = this.#root;
    for (let i = ending.length - 1; i >= 0; i--) {
      const code = ending.charCodeAt(i);
      let next = node.next.get(code);
      if (next === undefined) {
        next = { next: new Map(), ids: [] };
        node.next.set(code, next);
      }
      node = next;
    }
    if (node.ids.at(-1) !== id) node.ids.push(id);
  }

  /** Adds to `found` all that could apply to the name `text[start..end)`. */
  find(text: string, start: number, end: number, found: Set<number>): void {
    let node: TrieNode | undefined = this.#root;
    for (let i = end - 1; node !== undefined; i--) {
      for (const id of node.ids) found.add(id);
      if (i < start) return;
      node = node.next.get(text.charCodeAt(i));
    }
  }

  /** Whether anything could apply to a name. */
  has(name: string): boolean {
    let node: TrieNode | undefined = this.#root;
    for (let i = name.length - 1; node !== undefined; i--) {
      if (node.ids.length > 0) return true;
      if (i < 0) return false;
      node = node.next.get(name.charCodeAt(i));
    }
    return false;
  }
}
