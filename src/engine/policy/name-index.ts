// Finds by the names in a path which rules could apply to it. Every match of a glob ends with the text after its last
// wildcard and begins with the text before its first one. Endings are kept in a trie that is walked backwards from the
// end of each name, beginnings in one that is walked forwards: the cost does not grow with the number of rules.

interface TrieNode {
  readonly next: Map<number, TrieNode>;
  readonly ids: number[];
}

export class NameIndex {
  readonly #endings: TrieNode = newNode();
  readonly #beginnings: TrieNode = newNode();

  /** `id` could apply to every name that ends with `ending`; "" is every name. */
  addEnding(ending: string, id: number): void {
    let node = this.#endings;
    for (let i = ending.length - 1; i >= 0; i--) node = grown(node, ending.charCodeAt(i));
    if (node.ids.at(-1) !== id) node.ids.push(id);
  }

  /** `id` could apply to every name that begins with `beginning`. */
  addBeginning(beginning: string, id: number): void {
    let node = this.#beginnings;
    for (let i = 0; i < beginning.length; i++) node = grown(node, beginning.charCodeAt(i));
    if (node.ids.at(-1) !== id) node.ids.push(id);
  }

  /** Adds to `found` all that could apply to the name `text[start..end)`. */
  find(text: string, start: number, end: number, found: Set<number>): void {
    let node: TrieNode | undefined = this.#endings;
    for (let i = end - 1; node !== undefined; i--) {
      for (const id of node.ids) found.add(id);
      if (i < start) break;
      node = node.next.get(text.charCodeAt(i));
    }
    node = this.#beginnings;
    for (let i = start; node !== undefined; i++) {
      for (const id of node.ids) found.add(id);
      if (i >= end) break;
      node = node.next.get(text.charCodeAt(i));
    }
  }

  /** Whether anything could apply to a name. */
  has(name: string): boolean {
    let node: TrieNode | undefined = this.#endings;
    for (let i = name.length - 1; node !== undefined; i--) {
      if (node.ids.length > 0) return true;
      if (i < 0) break;
      node = node.next.get(name.charCodeAt(i));
    }
    node = this.#beginnings;
    for (let i = 0; node !== undefined; i++) {
      if (node.ids.length > 0) return true;
      if (i === name.length) break;
      node = node.next.get(name.charCodeAt(i));
    }
    return false;
  }
}

function newNode(): TrieNode {
  return { next: new Map(), ids: [] };
}

/** The node below `node` for a character, added if it is missing. */
function grown(node: TrieNode, code: number): TrieNode {
  const known = node.next.get(code);
  if (known !== undefined) return known;
  const added = newNode();
  node.next.set(code, added);
  return added;
}
