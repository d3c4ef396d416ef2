// A tool of this dialect. Its answer is one text, as content and again as structured content; failures are worded at
// once, because the contract's sentences name the failed system call and the allowed directories.
import type { CallContext } from "../../contract/context.ts";
import type { Infer, ObjectSchema } from "../../contract/schema.ts";
import { type Reply, type Tool, text, tool } from "../../contract/tool.ts";
import { say } from "../../contract/wording.ts";
import { Fault } from "../../engine/fault.ts";
import { allowedDirectories } from "./paths.ts";
import { type SystemCall, wordingFor } from "./wording.ts";

const textOutput = {
  type: "object",
  properties: { content: { type: "string" } },
  required: ["content"],
  additionalProperties: false,
} as const;

interface TextTool<S extends ObjectSchema> extends Omit<Tool<S>, "run" | "output"> {
  /** The operation, as it is named in messages. */
  readonly call: SystemCall;
  run(params: Infer<S>, call: CallContext): Promise<string> | string;
}

export function textTool<const S extends ObjectSchema>({ call: named, ...spec }: TextTool<S>): Tool {
  return tool<S>({
    ...spec,
    output: textOutput,
    run: (params, call) =>
      telling(named, call, async () => {
        const body = await spec.run(params, call);
        return text(body, { content: body });
      }),
  });
}

/** The reply, or the fault that came instead of it as a reply. */
export async function telling(
  named: SystemCall,
  call: CallContext,
  reply: () => Promise<Reply>,
): Promise<Reply> {
  try {
    return await reply();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    call.failed?.(error);
    return { ...text(told(error, named, call)), isError: true };
  }
}

/** A fault as one sentence. */
export function told(fault: Fault, named: SystemCall, { workspace }: CallContext): string {
  return say(wordingFor({ call: named, allowed: allowedDirectories(workspace) }), fault);
}
