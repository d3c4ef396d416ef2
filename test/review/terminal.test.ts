// The same stream as lines in a terminal, and history that shows no more than the policy does.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { Fixture, program, startLeashed } from "./fixture.ts";

async function watching(fixture: Fixture, ...args: string[]) {
  const child = startLeashed(["watch", ...args], { cwd: fixture.root, env: fixture.environment });
  onTestFinished(async () => {
    const ended = new Promise(resolve => child.once("exit", resolve));
    if (child.exitCode === null && child.kill("SIGINT")) await ended;
  });
  let [out, told] = ["", ""];
  child.stdout.on("data", chunk => {
    out += chunk;
  });
  child.stderr.on("data", chunk => {
    told += chunk;
  });
  await expect.poll(() => told, { timeout: 30_000 }).toContain("Watching");
  return { lines: () => out.split("\n").slice(0, -1), child };
}

describe("polyfs watch", () => {
  it("prints calls and changes of every server as lines, and nothing that steers the terminal", async () => {
    const fixture = new Fixture();
    const { lines } = await watching(fixture, fixture.root);
    const agent = await fixture.agent("alpha");
    const id = await agent.change("write_file", { path: "a\u001b[31m.txt", content: "one\n" });
    await expect
      .poll(() => lines().some(line => line.includes(`change ${id}`)), { timeout: 30_000 })
      .toBe(true);
    await expect
      .poll(() => lines().some(line => /alpha.* write_file a\\x1b\[31m.txt [\d.]+ ms$/.test(line)), {
        timeout: 30_000,
      })
      .toBe(true);
    expect(lines().join("")).not.toContain("\u001b");
  });

  it("prints events as JSON for programs, and asks no questions: a question does not wait for it", async () => {
    const fixture = new Fixture();
    const policy = join(fixture.base, "policy.json");
    writeFileSync(policy, JSON.stringify({ rules: [{ paths: ["*.sql"], ask: ["write"] }] }));
    const { lines } = await watching(fixture, "--json", fixture.root);
    const agent = await fixture.agent("alpha", ["--policy", policy, fixture.root]);
    const refused = await agent.call("write_file", { path: "a.sql", content: "x\n" });
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining("polyfs grant") });
    const id = await agent.change("write_file", { path: "a.txt", content: "x\n" });
    const events = () => lines().map(line => JSON.parse(line));
    await expect
      .poll(
        () =>
          events()
            .filter(({ event }) => event === "change")
            .map(({ data }) => data.id),
        { timeout: 30_000 },
      )
      .toEqual([id]);
    await expect
      .poll(() => events().find(({ event, data }) => event === "call" && data.outcome === "refused"), {
        timeout: 30_000,
      })
      .toMatchObject({ data: { fault: "approval_needed", paths: ["a.sql"] } });
  });
});

describe("polyfs history --diff", () => {
  it("masks what the policy masks, also where a rule is relative to the served directory", async () => {
    const fixture = new Fixture();
    fixture.write(".env", "TOKEN=old-tulip\n");
    const policy = join(fixture.base, "policy.json");
    const rules = [
      { paths: ["conf/app.ini"], access: "mask" },
      { paths: ["hidden/**"], access: "deny" },
    ];
    writeFileSync(policy, JSON.stringify({ rules }));
    const plain = await fixture.agent("alpha", ["--policy", "none", fixture.root]);
    await plain.change("write_file", { path: ".env", content: "TOKEN=new-tulip\n" });
    await plain.change("write_file", { path: "conf/app.ini", content: "[a]\npassword = orchid\n" });
    await plain.change("write_file", { path: "hidden/x.txt", content: "daisy\n" });
    await plain.change("write_file", { path: "open.txt", content: "grass\n" });
    await plain.client.close();
    const history = (...args: string[]) =>
      spawnSync(process.execPath, [program, "history", "--diff", ...args], {
        cwd: fixture.base,
        encoding: "utf8",
        env: fixture.environment,
      });
    const byDefault = history(fixture.root);
    expect(byDefault.stderr).toBe("");
    expect(byDefault.stdout).toContain("+grass");
    expect(byDefault.stdout).toContain("+daisy");
    expect(byDefault.stdout).not.toContain("tulip");
    const ruled = history("--policy", policy, fixture.root);
    expect(ruled.stdout).toContain("+grass");
    expect(ruled.stdout).toContain("password");
    expect(ruled.stdout).not.toMatch(/orchid|daisy/);
    const revealed = history("--reveal", fixture.root).stdout;
    for (const value of ["-TOKEN=old-tulip", "+TOKEN=new-tulip"]) expect(revealed).toContain(value);
  });
});
