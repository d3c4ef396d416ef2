// The workspace that a caller has chosen. It belongs to the connection; choosing another one leaves calls that
// still run in the old one undisturbed, and closes it when the last of them has ended.
import type { CallContext } from "../../contract/context.ts";
import type { Session, Slot } from "../../contract/session.ts";
import { Fault } from "../../engine/fault.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";

class ChosenWorkspace {
  readonly #workspace: Workspace;
  #calls = 0;
  #over = false;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  async use<T>(action: (workspace: Workspace) => Promise<T>): Promise<T> {
    this.#calls++;
    try {
      return await action(this.#workspace);
    } finally {
      this.#calls--;
      this.#closeIfUnused();
    }
  }

  end(): void {
    this.#over = true;
    this.#closeIfUnused();
  }

  #closeIfUnused(): void {
    if (this.#over && this.#calls === 0) this.#workspace[Symbol.dispose]();
  }
}

const choice: Slot<ChosenWorkspace | undefined> = { initial: () => undefined, end: last => last?.end() };

/** From now on the caller works in `workspace`, which is the session's to close. */
export function choose(session: Session, workspace: Workspace): void {
  session.get(choice)?.end();
  session.set(choice, new ChosenWorkspace(workspace));
}

/** Runs `action` in the caller's chosen workspace. Refuses if there is none. */
export async function inChosen<T>(
  { session }: Pick<CallContext, "session">,
  action: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  refuseForgetful(session);
  const chosen = session.get(choice);
  if (chosen !== undefined) return chosen.use(action);
  throw new Fault("invalid_argument", {
    message:
      "Workspace not set. Please call set_workspace first to establish a secure workspace root directory.",
  });
}

/** A connection that forgets everything after each call can have no workspace. */
export function refuseForgetful({ lasting }: Session): void {
  if (lasting) return;
  throw new Fault("invalid_argument", {
    message:
      "Workspace cannot be set: this connection keeps nothing between calls. Connect with a session, or over stdio.",
  });
}
