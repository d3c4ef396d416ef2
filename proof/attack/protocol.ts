// Malformed messages and calls: each is answered or ignored, and the server continues. The fuzz suite sends random
// ones.

import type { Dialect } from "../../src/contract/dialect.ts";
import type { Trial } from "../suite.ts";
import { overStdio } from "./target.ts";

const deep = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const call = (params: string, id = '"odd"') =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`;

export async function attackTheProtocol(dialect: Dialect, { tally, long }: Trial): Promise<void> {
  await using target = await overStdio(dialect);
  const { wire } = target;
  const reader = `"name":${JSON.stringify(dialect.tools.find(({ name }) => /^read_files?$/.test(name))?.name)}`;
  const big = long ? 52_428_800 : 8_000_000;
  const lines: readonly (readonly [id: string, story: string, line: string])[] = [
    ["A231", "an unknown tool", call('{"name":"no_such_tool","arguments":{}}')],
    ["A231b", "a name that objects have", call('{"name":"__proto__","arguments":{}}')],
    ["A231c", "a tool without a name", call("{}")],
    ["A232", "no arguments", call(`{${reader},"arguments":{}}`)],
    ["A232b", "arguments left out", call(`{${reader}}`)],
    ["A233", "arguments as a string", call(`{${reader},"arguments":"x"}`)],
    ["A233b", "arguments as a list", call(`{${reader},"arguments":[1]}`)],
    ["A233c", "arguments that are null", call(`{${reader},"arguments":null}`)],
    [
      "A233d",
      "a path that is an object",
      call(`{${reader},"arguments":{"path":{"a":1},"__proto__":{"b":1}}}`),
    ],
    ["A234", "nested 100,000 deep", call(`{${reader},"arguments":{"path":${deep(100_000)}}}`)],
    ["A234b", "nothing but brackets", deep(200_000)],
    ["A235", "a very long line", call(`{${reader},"arguments":{"path":"${"x".repeat(big)}"}}`)],
    ["A235b", "a very long line of no JSON", "x".repeat(big)],
    ["A236", "bytes that are not UTF-8", "\u0080\u00ff"],
    ["A237", "an id that is a fraction", call("{}", "1.5")],
    ["A237b", "an id that is null", call("{}", "null")],
    ["A237c", "an id that is very long", call("{}", `"${"i".repeat(100_000)}"`)],
    ["A237d", "an id that is an object", call("{}", '{"a":1}')],
    ["A237e", "an empty batch", "[]"],
    ["A237f", "a batch of nothing", "[1,null,[]]"],
  ];
  for (const [id, story, line] of lines) {
    if (!tally.wants(id)) continue;
    await tally.attempt(`${id} (${story}) ${dialect.name}`, async () => {
      wire.raw(`${line}\n`);
      await target.inspect(await target.request("ping"));
    });
  }
  if (tally.wants("A238"))
    await tally.attempt(`A238 (one id twice) ${dialect.name}`, async () => {
      const twice = call(`{${reader},"arguments":{}}`, "4711");
      const answers = [1, 2].map(() => wire.next(message => message.id === 4711));
      wire.raw(`${twice}\n${twice}\n`);
      for (const answer of await Promise.all(answers)) await target.inspect(answer);
    });
}
