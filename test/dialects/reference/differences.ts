// Where this server answers otherwise than the one that it replaces, on purpose. Each entry has its section, with the
// reason, in docs/dialects/reference.md; each says how such a difference looks, so that nothing else passes for it.
import type { Call } from "./calls.ts";
import type { Answer } from "./pair.ts";
import { files } from "./tree.ts";

export interface Comparison {
  readonly call: Call;
  readonly ours: Answer;
  readonly theirs: Answer;
}

export interface Difference {
  /** The heading of its section. */
  readonly name: string;
  fits(comparison: Comparison): boolean;
}

export const differences: readonly Difference[] = [
  {
    name: "An `oldText` that occurs several times is refused",
    fits: ({ call, ours, theirs }) =>
      call.tool === "edit_file" &&
      !theirs.isError &&
      ours.isError &&
      /^Found \d+ matches|oldText is empty/.test(ours.text),
  },
  {
    name: "Line endings survive an edit",
    fits: ({ call, ours, theirs }) =>
      call.tool === "edit_file" &&
      ours.text === theirs.text &&
      changedBy({ ours, theirs }).every(
        path => /crlf|mixed/.test(path) && ours.tree[path]?.replaceAll("\r\n", "\n") === theirs.tree[path],
      ),
  },
  {
    name: "Other encodings are read and survive an edit",
    fits({ call, ours, theirs }) {
      if (!/utf16|latin1/.test(asked(call)) || ours.isError) return false;
      if (call.tool === "edit_file") return theirs.isError;
      return /[\ufffd\0]/.test(theirs.text) && !/[\ufffd\0]/.test(ours.text);
    },
  },
  {
    name: "A block found by its indentation keeps it",
    fits: ({ call, ours, theirs }) =>
      call.tool === "edit_file" &&
      /code\.ts|tabs\.py/.test(asked(call)) &&
      !ours.isError &&
      !theirs.isError &&
      !isVerbatim(call),
  },
  {
    name: "A link is moved itself, and counts as existing",
    fits: ({ call, ours }) =>
      /link-|loop|dangling/.test(asked(call)) &&
      (call.tool === "move_file"
        ? /^Successfully moved|^Destination already exists/.test(ours.text)
        : call.tool === "create_directory" && ours.text.startsWith("EEXIST")),
  },
  {
    name: "An allowed directory stays where it is",
    fits: ({ call, ours, theirs }) =>
      call.tool === "move_file" && ours.isError && theirs.isError && /cannot be moved: ROOT$/.test(ours.text),
  },
  {
    name: "Pipes and devices are left alone",
    fits: ({ call, ours }) =>
      asked(call).includes("fifo") && ours.isError && ours.text.startsWith("Not a regular file (fifo)"),
  },
  {
    name: "Nothing outside is revealed",
    fits({ call, ours, theirs }) {
      if (ours.text.includes("OUTSIDE")) return false;
      if (call.tool === "list_directory_with_sizes")
        return withoutOutside(ours.text) === withoutOutside(theirs.text);
      const denied = /^Access denied - symlink target outside allowed directories: /;
      return ours.isError && theirs.isError && denied.test(ours.text) && asked(call).includes("link-out");
    },
  },
  {
    name: "A dangling link",
    fits: ({ call, ours, theirs }) =>
      asked(call).includes("dangling") &&
      theirs.text.startsWith("Parent directory does not exist") &&
      (ours.text.startsWith("ENOENT") || ["write_file", "create_directory"].includes(call.tool)),
  },
  {
    name: "Messages name the path that was asked for",
    fits: ({ ours, theirs }) =>
      ours.isError &&
      theirs.isError &&
      failureIn(ours.text) !== undefined &&
      failureIn(ours.text) === failureIn(theirs.text) &&
      changedBy({ ours, theirs }).length === 0,
  },
  {
    name: "Invalid parameters are worded differently",
    fits: ({ call, ours, theirs }) => {
      const start = `MCP error -32602: Input validation error: Invalid arguments for tool ${call.tool}: `;
      return ours.text.startsWith(start) && theirs.text.startsWith(start);
    },
  },
  {
    name: "`null` is a parameter left out",
    fits: ({ call, ours, theirs }) => asked(call).includes(":null") && !ours.isError && theirs.isError,
  },
  {
    name: "New files have the name that was asked for",
    fits: ({ call, ours }) =>
      ["write_file", "create_directory", "move_file"].includes(call.tool) &&
      asked(call) !== asked(call).normalize("NFC") &&
      !ours.isError,
  },
  {
    name: "Patterns",
    fits({ call, ours }) {
      const { pattern, excludePatterns } = call.args as { pattern?: string; excludePatterns?: string[] };
      if (pattern?.startsWith("./")) return ours.text === `ROOT/${pattern.slice(2)}`;
      if (excludePatterns?.[0] === "") return call.tool === "directory_tree" && ours.text.length > 10;
      return /[+!]\(/.test(pattern ?? "") && ours.isError && ours.text.startsWith("Invalid glob");
    },
  },
];

function asked({ args }: Call): string {
  return JSON.stringify(args) ?? "";
}

/** Whether the texts to replace occur in the file as they are. */
function isVerbatim({ args }: Call): boolean {
  const { path, edits } = args as { path: string; edits: { oldText: string }[] };
  const content = String(files[path.replace("ROOT/", "")]);
  return edits.every(({ oldText }) => content.includes(oldText));
}

/** The paths that the two have left in different states. */
function changedBy({ ours, theirs }: Pick<Comparison, "ours" | "theirs">): string[] {
  const paths = new Set([...Object.keys(ours.tree), ...Object.keys(theirs.tree)]);
  return [...paths].filter(path => ours.tree[path] !== theirs.tree[path]);
}

/** What went wrong, without the paths and the call to the system. */
function failureIn(message: string): string | undefined {
  return /^[A-Z]+: [^,]+,|^Destination already exists:/.exec(message)?.[0];
}

function withoutOutside(listing: string): string {
  const lines = listing.split("\n").filter(line => !/^\[FILE\] link-out|^Combined size/.test(line));
  return lines.join("\n");
}
