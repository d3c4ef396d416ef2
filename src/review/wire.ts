// What servers and pages of one user send each other, over a socket in the state directory. Contents never go over
// it, except those that a question is about, as the rules show them.
import type { AnswerRequest, Call, ServerInfo, SettledQuestion } from "./api.ts";

/** In the state directory: a file for each running server, one for each open page. */
export const folders = {
  servers: ["review", "servers"],
  pages: ["review", "pages"],
  roots: ["review", "roots"],
  notes: ["review", "notes"],
  marks: ["review"],
} as const;

/** What the file of a server says. */
export interface ServerFile extends ServerInfo {
  /** Proves to the server that a page can read this file. */
  readonly secret: string;
}

/** A call, and the directories that its caller may reach. */
export interface WireCall extends Omit<Call, "server"> {
  readonly roots: readonly string[];
}

export interface WireQuestion {
  readonly id: string;
  readonly time: number;
  readonly expires: number;
  readonly client: string;
  readonly connection: string;
  readonly tool: string;
  readonly command?: string;
  readonly needs: readonly {
    readonly at: string;
    readonly question: "write" | "delete" | "run";
    readonly rule?: string | undefined;
  }[];
  /** In base64, as the rules show them. `cut`: too large to be sent. */
  readonly files: readonly WireFile[];
  readonly writesRules: boolean;
  /** The directories that the caller may reach. */
  readonly roots: readonly string[];
}

export interface WireFile {
  readonly at: string;
  readonly from?: string;
  readonly before?: string;
  readonly after?: string;
  readonly cut?: number;
}

export type FromServer =
  | { readonly is: "hello"; readonly calls: readonly WireCall[]; readonly questions: readonly WireQuestion[] }
  | { readonly is: "call"; readonly call: WireCall }
  | { readonly is: "change"; readonly id: string }
  | { readonly is: "question"; readonly question: WireQuestion }
  | { readonly is: "settled"; readonly settled: SettledQuestion };

export type FromPage =
  | { readonly is: "hello"; readonly secret: string; readonly attended: boolean }
  /** Whether the page is open. */
  | { readonly is: "attended"; readonly attended: boolean }
  /** Whether a person at the page may answer a question. A page that says nothing may. */
  | { readonly is: "answerable"; readonly id: string; readonly answerable: boolean }
  | ({ readonly is: "answer"; readonly id: string } & AnswerRequest);
