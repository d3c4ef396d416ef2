// The `agent-tools` dialect: nine coding tools on one workspace. Every failure is a result with a JSON envelope, never
// a protocol error. If nothing may be written, only the tools that read are offered.
import type { Dialect } from "../../contract/dialect.ts";
import { applyPatch } from "./apply_patch.ts";
import { bash } from "./bash.ts";
import { edit } from "./edit_file.ts";
import { failed } from "./failure.ts";
import { glob } from "./glob.ts";
import { grep } from "./grep.ts";
import { listDir } from "./list_dir.ts";
import { multiEdit } from "./multi_edit.ts";
import { readFile } from "./read_file.ts";
import { wording } from "./wording.ts";
import { writeFile } from "./write_file.ts";

export const agentTools: Dialect = {
  name: "agent-tools",
  title: "Coding tools",
  summary: "nine coding tools: read, write, edit, multi-edit, patch, list, glob, grep, bash",
  tools: [readFile, writeFile, edit, multiEdit, applyPatch, listDir, glob, grep, bash],
  wording,
  withoutRoots: "working-directory",
  failure: fault => failed(fault),
  offers({ effect }, { workspace, settings }) {
    if (effect === "reads") return true;
    if (workspace.roots[0]?.access !== "read-write") return false;
    return effect === "writes" || settings.commands !== "none";
  },
};
