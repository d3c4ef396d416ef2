// The sandbox for --allow-run, found and tried at the start: without one, the server does not start.

import type { Engine } from "../engine/engine.ts";
import { gitIdentity } from "../engine/shell/git-identity.ts";
import { HiddenPlaces } from "../engine/shell/hidden-places.ts";
import { findSandbox, openSandbox } from "../engine/shell/sandbox.ts";
import { secretsOf } from "../engine/shell/secrets.ts";
import { statePath } from "../engine/workspace/commit/state-path.ts";
import { usualPlaces } from "../engine/workspace/reserved.ts";
import { homeDirectory } from "../engine/workspace/system/user.ts";
import type { Config } from "./config.ts";
import { ownDirectories } from "./own-directories.ts";
import { UsageError } from "./usage-error.ts";

export interface Confinement {
  readonly confine?: Engine["confine"];
  /** The sandbox's name and version. */
  readonly sandbox?: string;
}

export async function confinementOf(config: Config): Promise<Confinement> {
  if (!config.run || config["allow-run"] !== "sandboxed") return {};
  const found = await findSandbox();
  if ("missing" in found) {
    throw new UsageError(
      `there is no sandbox for commands: ${found.missing} (${found.install}); without one, commands run only with --allow-run=unsandboxed`,
    );
  }
  // Our own code in its compiled form is run outside of the sandbox by the next start.
  // Configuration decides what the next start allows.
  const hidden = new HiddenPlaces([
    ...secretsOf(homeDirectory()),
    statePath(config["state-dir"]),
    ...usualPlaces(process.env),
    ...ownDirectories(process.env),
  ]);
  const identity = await gitIdentity();
  const confine: Engine["confine"] = (workspace, wants) => {
    const network = config["run-network"] && (wants?.network ?? true);
    return openSandbox(found, { workspace, network, hidden, identity });
  };
  return { confine, sandbox: `${found.kind} ${found.version}` };
}
