// What every client 2.x of the SDK does with the fixture, over whichever transport: it lists, calls, follows progress
// and cancels.
import type { Client } from "@modelcontextprotocol/client";
import { expect } from "vitest";
import { fixture } from "./fixture.ts";

/** The tools of the fixture, as clients see them. */
export const advertisedNames = fixture.tools.map(({ name }) => `fx.${name}`);

/** With a connected client. `calls` are the texts that `whoami` returns, one call after the other. */
export async function converse(client: Client, revision: string, calls: readonly string[]): Promise<void> {
  expect(client.getNegotiatedProtocolVersion()).toBe(revision);
  expect(client.getServerVersion()).toEqual({ name: "fixture", title: "Fixture", version: "1.2.3" });
  expect(client.getInstructions()).toBe("Be brief.");
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(advertisedNames);
  for (const text of calls)
    expect(await client.callTool({ name: "whoami", arguments: {} })).toMatchObject({
      content: [{ type: "text", text }],
    });
  expect(await client.callTool({ name: "fx.measure", arguments: { text: "four" } })).toMatchObject({
    structuredContent: { length: 4 },
  });
  expect(await client.callTool({ name: "fail", arguments: {} })).toMatchObject({ isError: true });
  await expect(client.callTool({ name: "refuse", arguments: {} })).rejects.toMatchObject({ code: -32001 });

  const steps: number[] = [];
  const onprogress = ({ progress }: { progress: number }) => steps.push(progress);
  await client.callTool({ name: "slow", arguments: { steps: 3, ms: 150 } }, { onprogress });
  // The SDK loses one that comes together with the answer.
  expect(steps.slice(0, 2)).toEqual([1, 2]);

  const stop = new AbortController();
  const hanging = client.callTool({ name: "hang", arguments: {} }, { signal: stop.signal });
  stop.abort();
  await expect(hanging).rejects.toThrow();
  expect(await client.callTool({ name: "echo", arguments: { text: "still here" } })).toMatchObject({
    content: [{ text: "still here" }],
  });
}
