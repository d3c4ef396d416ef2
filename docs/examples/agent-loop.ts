// The tools in an agent loop of your own, without MCP: definitions go to the model, its calls come back here.
import { call, definitions, dialects, openEngine, outcomeText, Session } from "polyfs";

/** Whatever talks to your model: it gets the tools and what was said, and answers with a call or with text. */
type Model = (
  tools: object[],
  said: string[],
) => Promise<{ call?: { name: string; params: unknown }; text?: string }>;

export async function ask(model: Model, question: string, directory: string): Promise<string> {
  const engine = openEngine({ roots: [{ path: directory, access: "read-write" }] });
  const session = new Session();
  try {
    const dialect = await dialects.polyfs();
    const tools = definitions(dialect, { engine });
    const said = [dialect.instructions ?? "", question];
    for (;;) {
      const answer = await model(tools, said);
      if (answer.call === undefined) return answer.text ?? "";
      const outcome = await call(dialect, answer.call.name, answer.call.params, { engine, session });
      said.push(outcomeText(outcome));
    }
  } finally {
    session[Symbol.dispose]();
    engine[Symbol.dispose]();
  }
}
