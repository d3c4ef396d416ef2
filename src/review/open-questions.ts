// Questions of the policy that wait for the person at a review page. Each ends: by an answer, when its time is up
// (which is a no), when its call is cancelled, or when the last page is closed.

import { randomBytes } from "node:crypto";
import type { Approval } from "../contract/context.ts";
import { Fault } from "../engine/fault.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
import type { ActivityOptions, AskedQuestion } from "./activity-options.ts";
import type { AnswerRequest, SettledQuestion } from "./api.ts";
import type { FromServer, WireFile, WireQuestion } from "./wire.ts";

const patienceMs = 5 * 60_000;
const maxFileBytes = 512 * 1024;
const longestCommand = 4000;
const mostNeeds = 200;

interface Pending {
  readonly asked: AskedQuestion;
  readonly wire: WireQuestion;
  end(approval: Approval | undefined, settled: Omit<SettledQuestion, "id">): void;
}

export class OpenQuestions {
  readonly #options: ActivityOptions;
  readonly #tell: (message: FromServer) => void;
  /** Questions whose answer is being made a rule. */
  readonly #writing = new Set<string>();
  readonly #pending = new Map<string, Pending>();

  constructor(options: ActivityOptions, tell: (message: FromServer) => void) {
    this.#options = options;
    this.#tell = tell;
  }

  get open(): WireQuestion[] {
    return [...this.#pending.values()].map(({ wire }) => wire);
  }

  /** Undefined if no page answers it: none is open, or none of the viewers may answer it. */
  async ask(asked: AskedQuestion): Promise<Approval | undefined> {
    const wire = await this.#wire(asked);
    return await new Promise<Approval | undefined>(resolve => {
      const expired = () =>
        end({ allowed: false, reason: "no answer at the review page in time" }, { outcome: "expired" });
      const cancelled = () => end({ allowed: false, reason: "the call was cancelled" }, { outcome: "gone" });
      const timer = setTimeout(expired, wire.expires - Date.now());
      const end: Pending["end"] = (approval, settled) => {
        clearTimeout(timer);
        asked.signal.removeEventListener("abort", cancelled);
        if (!this.#pending.delete(wire.id)) return;
        this.#tell({ is: "settled", settled: { id: wire.id, ...settled } });
        resolve(approval);
      };
      this.#pending.set(wire.id, { asked, wire, end });
      asked.signal.addEventListener("abort", cancelled, { once: true });
      if (asked.signal.aborted) cancelled();
      else this.#tell({ is: "question", question: wire });
    });
  }

  /** What a page says. What is not a clear yes is a no. */
  answer(id: string, { answer, reason }: AnswerRequest): void {
    const pending = this.#pending.get(id);
    if (pending === undefined || this.#writing.has(id)) return;
    if (answer === "once") pending.end({ allowed: true }, { outcome: "allowed" });
    else if (answer === "task") pending.end({ allowed: true, lasting: true }, { outcome: "allowed" });
    else if (answer === "rule") void this.#writeRule(id, pending);
    else
      pending.end(
        {
          allowed: false,
          ...(typeof reason === "string" && reason !== "" && { reason: reason.slice(0, 1000) }),
        },
        { outcome: "denied" },
      );
  }

  isOpen(id: string): boolean {
    return this.#pending.has(id);
  }

  /** No page answers these any more: they go to the other ways of asking. */
  abandon(isAbandoned: (id: string) => boolean): void {
    for (const [id, { end }] of [...this.#pending]) if (isAbandoned(id)) end(undefined, { outcome: "gone" });
  }

  /** Where the rule cannot be written, this call is allowed all the same: that was part of the answer. */
  async #writeRule(id: string, { asked, end }: Pending): Promise<void> {
    let rule: SettledQuestion["rule"];
    this.#writing.add(id);
    try {
      rule = await this.#options.writeRule?.(asked.needs);
    } catch {
      rule = undefined;
    } finally {
      this.#writing.delete(id);
    }
    end({ allowed: true, lasting: true }, { outcome: "allowed", ...(rule && { rule }) });
  }

  async #wire({ needs, tool, proposal, session, workspace }: AskedQuestion): Promise<WireQuestion> {
    const files: WireFile[] = [];
    for (const change of proposal.changes) {
      const file = await wireFile(workspace, change);
      if (file !== undefined) files.push(file);
    }
    const time = Date.now();
    return {
      id: `${process.pid}-${randomBytes(8).toString("hex")}`,
      time,
      expires: time + (this.#options.patienceMs ?? patienceMs),
      client: session.client,
      connection: session.connection,
      tool,
      ...(proposal.command !== undefined && { command: proposal.command.slice(0, longestCommand) }),
      needs: needs.slice(0, mostNeeds),
      files,
      writesRules: this.#options.writeRule !== undefined,
      roots: workspace.roots.map(({ path }) => path),
    };
  }
}

/** Undefined if a rule hides it, or it is not a file. */
async function wireFile(
  workspace: Workspace,
  { at, from, bytes, removes }: AskedQuestion["proposal"]["changes"][number],
): Promise<WireFile | undefined> {
  try {
    const now = await bytesAt(workspace, from ?? at);
    const after = removes ? undefined : (bytes ?? (from === undefined ? undefined : now));
    const largest = Math.max(now?.length ?? 0, after?.length ?? 0);
    if (largest > maxFileBytes)
      return { at, ...(now && { before: "" }), ...(after && { after: "" }), cut: largest };
    return {
      at,
      ...(from !== undefined && { from }),
      ...(now && { before: workspace.shown(from ?? at, now).toString("base64") }),
      ...(after && { after: workspace.shown(at, Buffer.from(after)).toString("base64") }),
    };
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

async function bytesAt(workspace: Workspace, at: string): Promise<Buffer | undefined> {
  try {
    using file = await workspace.openUnmasked(workspace.recorded(at));
    return file.size > maxFileBytes ? Buffer.alloc(maxFileBytes + 1) : await file.bytes(maxFileBytes + 1);
  } catch (error) {
    if (Fault.is(error, "not_found") || Fault.is(error, "not_a_file")) return undefined;
    throw error;
  }
}
