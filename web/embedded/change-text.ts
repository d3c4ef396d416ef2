// Reads what `list_changes` answers back into values. The text is made for models; program and page come from one
// package, and a test runs both against each other.
import type { ChangeSummary, FileDifference, FileSummary, Hunk } from "../../src/review/api.ts";

export interface ListedChanges {
  readonly changes: readonly ChangeSummary[];
  readonly hasMore: boolean;
  /** What the changes come to, where that was asked for. */
  readonly files: readonly FileDifference[];
}

const head = /^([0-9a-z]+) · (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) · (.*)$/;
const undoes = /^undoes (a part of )?(\w+)$/;
const fixed = new Set(["or another command at the same time", "cannot be undone"]);

export function readChanges(text: string): ListedChanges {
  const changes: ChangeSummary[] = [];
  let hasMore = false;
  const lines = text.split("\n");
  const difference = lines.findIndex(line => line.startsWith("[net difference of "));
  for (const line of difference < 0 ? lines : lines.slice(0, difference)) {
    const change = changeIn(line);
    if (change !== undefined) changes.push(change);
    else if (line.startsWith("[there are more")) hasMore = true;
    else addFile(changes, line);
  }
  return {
    changes: withStates(changes),
    hasMore,
    files: difference < 0 ? [] : filesIn(lines.slice(difference + 1)),
  };
}

function changeIn(line: string): ChangeSummary | undefined {
  const [, id, day, time, rest] = head.exec(line) ?? [];
  if (id === undefined || rest === undefined) return undefined;
  const [tool = "?", ...others] = rest.split(" · ");
  const [, part, back] = others.map(one => undoes.exec(one)).find(found => found !== null) ?? [];
  const client = others.filter(one => !undoes.test(one) && !fixed.has(one)).join(" · ");
  return {
    id,
    time: Date.parse(`${day}T${time}Z`),
    tool,
    agent: { client: client === "you" ? "This conversation" : client },
    task: id,
    files: [],
    fileCount: 0,
    state: "standing",
    // What takes a part back leaves the change standing.
    ...(back !== undefined && part === undefined && { undoes: back }),
    undoable: !others.includes("cannot be undone"),
    kept: false,
    notes: 0,
  };
}

/** A change is undone if another one, itself not undone, reverts it whole. The list has the newest first. */
function withStates(changes: readonly ChangeSummary[]): ChangeSummary[] {
  const undone = new Set<string>();
  return changes.map(change => {
    const state = undone.has(change.id) ? ("undone" as const) : change.state;
    if (change.undoes !== undefined && state === "standing") undone.add(change.undoes);
    return { ...change, state };
  });
}

const effects = { A: "created", M: "changed", D: "removed", R: "moved", " ": "mode" } as const;

function fileIn(line: string): FileSummary | undefined {
  const [, letter, named, , added, removed] = /^([AMDR ]) (.*?)( \+(\d+) -(\d+))?$/.exec(line) ?? [];
  if (letter === undefined || named === undefined) return undefined;
  const [from, to] = letter === "R" && named.includes(" -> ") ? split(named) : [undefined, named];
  const isDirectory = to.endsWith("/");
  return {
    path: to,
    name: to,
    effect: effects[letter as keyof typeof effects],
    kind: isDirectory ? "directory" : "file",
    ...(from !== undefined && { from }),
    ...(added !== undefined && { added: Number(added), removed: Number(removed) }),
  };
}

function split(named: string): [from: string, to: string] {
  const at = named.indexOf(" -> ");
  return [named.slice(0, at), named.slice(at + 4)];
}

function addFile(changes: ChangeSummary[], line: string): void {
  const last = changes.at(-1);
  if (last === undefined || !line.startsWith("  ")) return;
  const [, more] = /^ {2}\[(\d+) more files?\]$/.exec(line) ?? [];
  const file = more === undefined ? fileIn(line.slice(2)) : undefined;
  const count = last.fileCount + (file === undefined ? Number(more ?? 0) : 1);
  changes[changes.length - 1] = {
    ...last,
    files: file ? [...last.files, file] : last.files,
    fileCount: count,
  };
}

/** A file begins with its letter, a hunk with its number, a line of a hunk with its sign. */
function filesIn(lines: readonly string[]): FileDifference[] {
  const files: (FileDifference & { hunks: Hunk[] })[] = [];
  for (const line of lines) {
    const file = /^[AMDR] /.test(line) ? fileIn(line) : undefined;
    const last = files.at(-1);
    const [, number, text] = /^\[(\d+)\] (@@ .*)$/.exec(line) ?? [];
    if (file !== undefined) files.push({ ...file, shows: "text", hunks: [] });
    else if (last === undefined) continue;
    else if (text !== undefined) last.hunks.push({ number: Number(number), text, spans: [] });
    else if (/^[ +\-\\]/.test(line)) {
      const hunk = last.hunks.pop();
      if (hunk !== undefined) last.hunks.push({ ...hunk, text: `${hunk.text}\n${line}` });
    }
  }
  return files;
}
