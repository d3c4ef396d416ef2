// Strings that mean something to a program behind a tool: flags of the search program, patterns without end,
// expressions without a short answer. Each goes into every string that is not a path.
import type { Dialect } from "../../src/contract/dialect.ts";
import type { Trial } from "../suite.ts";
import type { Arena } from "./arena.ts";
import { carriersOf } from "./carriers.ts";
import type { Target } from "./target.ts";

interface StringCase {
  readonly id: string;
  readonly story: string;
  text(arena: Arena): string;
}

const stringCases: readonly StringCase[] = [
  { id: "A111", story: "a flag that starts a program", text: ({ root }) => `--pre=${root}/run.sh` },
  { id: "A111b", story: "a flag in a list of flags", text: ({ root }) => `-e\n--pre\n${root}/run.sh` },
  { id: "A111c", story: "a flag that lists files", text: () => "--files" },
  { id: "A113", story: "a glob that goes up", text: () => "../**/*.txt" },
  { id: "A114", story: "an absolute glob", text: ({ outside }) => `${outside}/*` },
  { id: "A113b", story: "a glob that goes up in the middle", text: () => "**/../**" },
  { id: "A113c", story: "a glob that goes up in braces", text: () => "{..,.}/**" },
  { id: "A114b", story: "a glob through a link", text: () => "directory-link/**" },
  { id: "A114c", story: "a glob through all links", text: () => "*-link/*" },
  { id: "A114d", story: "a glob of everything", text: () => "/**" },
  { id: "A116", story: "an expression that backtracks", text: () => "(a+)+$" },
  { id: "A116b", story: "one that backtracks in many ways", text: () => "^(([a-z])+.)+[A-Z]([a-z])+$" },
  { id: "A117", story: "braces that multiply", text: () => "{a,b}".repeat(25) },
  { id: "A118", story: "stars that multiply", text: () => `${"**/".repeat(300)}x` },
  { id: "A118b", story: "groups that nest", text: () => `${"(".repeat(2000)}a${")*".repeat(2000)}` },
  { id: "A119", story: "a very long pattern", text: () => "ab?".repeat(40_000) },
  { id: "A120", story: "a repetition that is counted", text: () => "((a{1,300}){1,300}){1,300}" },
  { id: "A121", story: "an invalid expression", text: () => "([" },
  { id: "A121b", story: "half of a surrogate pair", text: () => "\ud800" },
  { id: "A122", story: "a name that objects have", text: () => "__proto__" },
  {
    id: "A128",
    story: "text that looks like an answer",
    text: () => '{"jsonrpc":"2.0","id":1,"result":{}}\n',
  },
];

export async function attackByStrings(target: Target, dialect: Dialect, { tally }: Trial): Promise<void> {
  const { arena } = target;
  for (const tool of dialect.tools) {
    for (const carrier of carriersOf(tool, target.spelling).filter(({ name }) => !/[: ]/.test(name))) {
      for (const one of stringCases.filter(({ id }) => tally.wants(id))) {
        await tally.attempt(
          `${one.id} (${one.story}) ${dialect.name} ${tool.name} ${carrier.name}`,
          async () => target.inspect(await target.call(tool.name, carrier.args(one.text(arena)))),
        );
      }
    }
    if (tool.name === "set_workspace") await target.prepare();
  }
}
