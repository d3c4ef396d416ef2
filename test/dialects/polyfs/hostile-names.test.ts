// A name is data: whatever a file is called, a message about it has the lines and the words that polyfs wrote.
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { grantCommands, plainWording, say, type Wording } from "../../../src/contract/wording.ts";
import { wording } from "../../../src/dialects/polyfs/wording.ts";
import { Fault, type FaultCode, type Faults } from "../../../src/engine/fault.ts";
import { Fixture } from "./fixture.ts";

const steering = "\x07\x1b[2K\x7f\u009b\u0085\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069";
const name = `a\r\nFORGED ${steering}b`;
const misleading = /[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

const path = name;
const lines = [{ line: 1, text: "content" }];
const need = { at: `/r/${name}`, question: "write", rule: name } as const;

/** Every fault, with the name wherever it holds something that was not written by polyfs, except lines of files. */
const samples: { readonly [C in FaultCode]: readonly Faults[C][] } = {
  unknown_tool: [{ name }],
  invalid_params: [{ issues: [{ at: name, rule: "type", expected: "a string", got: name }] }],
  invalid_argument: [], // the message is made where it is thrown
  cancelled: [{}],
  timeout: [{ ms: 1, what: name }],
  denied: [{ what: name }],
  internal: [{ message: name }],
  invalid_path: [{ path, reason: "too_long" }],
  outside_roots: [{ path }],
  read_only: [{ path }, { path, fileSystem: true }],
  not_found: [{ path, nearest: [name] }],
  parent_not_found: [{ path }],
  exists: [{ path }],
  not_a_file: [
    { path, kind: "directory" },
    { path, kind: "fifo" },
  ],
  not_a_directory: [{ path }],
  not_empty: [{ path }],
  is_a_link: [{ path }],
  protected_root: [{ path }],
  state_in_root: [{ path, root: name }],
  into_itself: [{ path }],
  permission_denied: [{ path, privacy: true }],
  irrevocable: [
    { path, inside: name, reason: "special", kind: "fifo" },
    { path, reason: "unreadable" },
    { path, reason: "too_long" },
    { path, reason: "no_room" },
    { path, reason: "too_large", bytes: 2, limits: { maxFileBytes: 1, maxChangeBytes: 1 } },
  ],
  forbidden: [
    { path, rule: name, to: "open" },
    { path, rule: name, to: "change" },
    { path, rule: name, to: "mask" },
  ],
  approval_needed: [{ path, needs: [need] }],
  no_space: [{ path }],
  too_many_open_files: [{ path }],
  busy: [{ path }],
  io: [{ path, errno: "EIO", call: "read" }],
  binary: [{ path }, { path, encoding: name }],
  not_text: [{ path, encoding: name }],
  unencodable: [
    { path, encoding: name, character: "\u202e", line: 1 },
    { path, encoding: name, character: "\u202e", line: 1, likely: ["latin1"] },
  ],
  too_large: [{ path, size: 2, limit: 1 }],
  too_many_files: [{ limit: 1 }],
  past_end: [{ path, line: 2, lines: 1 }],
  nothing_matches: [{ glob: name }],
  search_incomplete: [{ reason: "killed" }],
  invalid_pattern: [{ pattern: name, kind: "glob", problem: { is: "unclosed" } }],
  unknown_symbol: [{ path, symbol: name, nearest: [name] }],
  ambiguous_symbol: [
    { path, symbol: name, candidates: [{ name, path, from: 1, to: 2 }] },
    { path, symbol: name, candidates: [{ name, notation: name, from: 1, to: 2 }] },
  ],
  no_match: [{ path, old: "old", edit: 0 }],
  ambiguous: [{ path, old: "old", edit: 0, count: 2, tolerance: "exact", lines: [1, 2] }],
  no_change: [{ path, edit: 0 }],
  missing_group: [{ path, edit: 0, reference: name, groups: 1 }],
  edits_overlap: [{ path, edits: [0, 1], line: 1 }],
  stale: [
    { path, current: [], version: "v" },
    { path, current: lines, version: "v" },
    { path, current: [], version: "" },
  ],
  malformed_patch: [{ line: 1, problem: "no_file" }],
  patch_conflict: [
    { path, hunk: 1, reason: "no_match", current: lines },
    { path, hunk: 1, reason: "ambiguous", current: lines },
    { path, hunk: 1, reason: "lines_left", current: lines },
    { path, hunk: 1, reason: "already_applied", current: lines },
  ],
  duplicate_path: [{ path }],
  changed_meanwhile: [{ path }],
  locked: [{ path }, { path, by: "command" }],
  unknown_change: [{ id: name }, { id: name, path }],
  unknown_hunk: [{ hunk: 2, hunks: 1, within: { path, numbers: [1, 1] } }],
  not_kept: [{ path, change: name }],
  others_work: [{ change: name, paths: [name] }],
  partly_undone: [{ changes: [name], reason: new Fault("not_found", { path }) }],
  store_unavailable: [{ reason: "unreachable", detail: name }],
  not_applied: [{ paths: [name] }],
  invalid_workspace_name: [{ name, most: 9 }],
  workspace_dropped: [{ name }],
  unknown_workspace: [{ name, nearest: [name] }],
  workspace_exists: [{ name }],
  not_a_fork: [{ name }],
  has_forks: [{ name, forks: [name] }],
  nested_workspace: [{ path, other: name }],
  base_changing: [{ name }],
  base_gone: [{ name, base: name }],
  not_mounted: [{ reason: name }],
  merge_conflict: [
    { name, base: name, conflicts: [{ path, reason: "both_renamed", moved: { fork: name, base: name } }] },
  ],
  over_quota: [{ what: "bytes", limit: 1, used: 1 }],
  history_full: [{ limit: 1, used: 1 }],
  invalid_command: [{ reason: "empty" }],
  spawn_failed: [{ command: name, errno: "ENOENT" }],
  output_limit: [{ limit: 1, stdout: "", stderr: "" }],
  no_sandbox: [
    { problem: { is: "message", message: name } },
    { problem: { is: "moved", path: name } },
    { problem: { is: "no_unicode", path: name } },
  ],
  unknown_job: [{ job: name }, { job: name, on: name, here: name }],
  too_many_jobs: [{ limit: 1 }],
};

describe.each<[string, Wording]>([
  ["polyfs", wording],
  ["plain", plainWording],
])("the %s wording of a fault", (_, words) => {
  it.each(Object.keys(samples) as FaultCode[])("shows a hostile name as text: %s", code => {
    for (const data of samples[code]) {
      const said = say(words, new Fault(code, data as never));
      expect(said).not.toMatch(misleading);
      expect(said).not.toMatch(/^FORGED/m);
    }
  });
});

describe("the command that grants what a rule asks about", () => {
  it.each([name, "it's", "a\\b'\n", "$(id)\n`id`", "a\n9"])(
    "passes the name to the shell as it is: %j",
    at => {
      const command = grantCommands([{ at: `/r/${at}`, question: "write" }]);
      expect(command).not.toMatch(misleading);
      expect(command).not.toContain("\n");
      const script = `polyfs() { printf %s "$2"; }; ${command}`;
      expect(execFileSync("bash", ["-c", script], { encoding: "utf8" })).toBe(`/r/${at}`);
    },
  );
});

describe("a search", () => {
  it.each(["content", "files", "count"])(
    "prints the name of the file that it was given: %s",
    async output => {
      await using fixture = new Fixture({ [name]: "needle\n" });
      const server = await fixture.serve();
      const said = await server.says("search_text", { pattern: "needle", path: name, output });
      expect(said).toContain("FORGED");
      expect(said.split("\n").some(line => line.startsWith("FORGED"))).toBe(false);
      expect(said).not.toMatch(misleading);
    },
  );
});
