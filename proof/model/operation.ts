// What a program does, in full: every path, text and number is there, so that it can be sent, and told what must
// come of it on any tree.
export type Edit =
  | { readonly old: string; readonly new: string }
  | { readonly line: number; readonly new: string }
  | { readonly after: number; readonly new: string };

export type Block =
  | { readonly kind: "create"; readonly path: string; readonly lines: readonly string[] }
  | { readonly kind: "delete"; readonly path: string }
  | {
      readonly kind: "modify";
      readonly path: string;
      /** For a rename: where to. */
      readonly to?: string;
      /** The lines that must be there, and which of them becomes what. */
      readonly from: number;
      readonly stands: readonly string[];
      readonly at: number;
      readonly new: string;
    };

export type Changing =
  | {
      readonly do: "write";
      readonly path: string;
      readonly content: string;
      readonly mode: "overwrite" | "create" | "append";
    }
  | { readonly do: "edit"; readonly path: string; readonly edits: readonly Edit[]; readonly base?: Buffer }
  | { readonly do: "patch"; readonly notation: "unified" | "envelope"; readonly blocks: readonly Block[] }
  | { readonly do: "move" | "copy"; readonly from: string; readonly to: string; readonly overwrite: boolean }
  | { readonly do: "delete"; readonly path: string; readonly recursive: boolean }
  | { readonly do: "mkdir"; readonly path: string };

export type Reading =
  | { readonly do: "read"; readonly path: string; readonly offset: number; readonly limit: number }
  | { readonly do: "list"; readonly path: string }
  | { readonly do: "find"; readonly path: string; readonly pattern: string }
  | { readonly do: "search"; readonly path: string; readonly text: string };
