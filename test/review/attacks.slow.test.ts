// Attacks on the review page from everything that can reach the port: other pages, other users, names that point here, and what
// an agent can put into names and files. Nothing is answered that should not be, and nothing in an answer is markup.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasProc } from "../setup/proc.ts";
import { type Agent, type Answer, ask, Fixture, type Page, startLeashed } from "./fixture.ts";

// A hook that is registered inside another hook never runs.
const fixture = new Fixture(afterAll);
let agent: Agent;
let page: Page;
let address: string;
let change: string;

beforeAll(async () => {
  fixture.write("a.txt", "secret-of-the-file\n");
  agent = await fixture.agent();
  change = await agent.change("write_file", { path: "a.txt", content: "changed\n" });
  address = await fixture.start(["review", "--no-open", fixture.root], /http:\S+token=\S+/);
  const { Page: Pages } = await import("./fixture.ts");
  page = await Pages.enter(address);
});

async function raw(port: string, request: string): Promise<string> {
  const socket = connect(Number(port), "127.0.0.1");
  socket.write(request);
  let said = "";
  for await (const chunk of socket) said += String(chunk);
  return said;
}

const leaks = (answer: Answer) => /secret-of-the-file|a\.txt/.test(answer.text);
const json = { "content-type": "application/json", "x-polyfs-review": "1" };

describe("another page, another user, another name", () => {
  it("the address works once, and a guessed token never", async () => {
    for (const url of [
      address,
      address.replace(/token=.*/, "token=guess"),
      address.replace(/\?.*/, "?token="),
    ]) {
      const answer = await ask(url);
      expect([answer.status, answer.headers["set-cookie"]]).toEqual([401, undefined]);
    }
  });

  it("without the cookie no route reveals or does anything", async () => {
    const gets = [
      "",
      "app.js",
      ...["session", "calls", "changes", `changes/${change}`, "tasks", "questions", "notes"].map(
        one => `api/${one}`,
      ),
    ];
    for (const path of [...gets, "api/search?text=secret", "api/facets", "api/events"]) {
      const answer = await ask(page.base + path);
      expect([path, answer.status, leaks(answer)]).toEqual([path, 401, false]);
    }
    for (const path of ["api/undo", "api/keep", "api/notes", "api/questions/x"]) {
      const answer = await ask(page.base + path, {
        method: "POST",
        headers: json,
        body: JSON.stringify({ change }),
      });
      expect([path, answer.status]).toEqual([path, 401]);
    }
    expect(fixture.read("a.txt")).toBe("changed\n");
  });

  it("a request target that is not a path is answered, and is no server error", async () => {
    const { port, host } = new URL(page.base);
    for (const target of ["//", "http://[", "/\\\\x", "*"]) {
      const said = await raw(port, `GET ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
      expect([target, Number(said.slice(9, 12)) < 500]).toEqual([target, true]);
    }
  });

  it("only a single Host that names the page is served, with the cookie or without", async () => {
    const { port, host } = new URL(page.base);
    const cases: readonly (readonly [what: string, head: string])[] = [
      ["absent", ""],
      ["empty", "host:\r\n"],
      ["twice, ours first", `host: ${host}\r\nhost: evil.example\r\n`],
      ["twice, ours last", `host: evil.example\r\nhost: ${host}\r\n`],
      ["twice ours", `host: ${host}\r\nHost: ${host}\r\n`],
      ["a list", `host: ${host}, evil.example\r\n`],
      ["with a user", `host: x@${host}\r\n`],
      ["with a dot", `host: localhost.:${port}\r\n`],
      ["without the port", "host: localhost\r\n"],
      ["folded", `host: ${host}\r\n evil.example\r\n`],
    ];
    for (const version of ["1.0", "1.1"])
      for (const [what, head] of cases) {
        const cookie = `cookie: ${page.headers.cookie}\r\nconnection: close\r\n`;
        const said = await raw(port, `GET /review/api/changes HTTP/${version}\r\n${head}${cookie}\r\n`);
        expect([what, version, ["400", "403"].includes(said.slice(9, 12))]).toEqual([what, version, true]);
        expect(said).not.toContain("a.txt");
      }
    const fine = `GET /review/api/changes HTTP/1.1\r\nhost: ${host}\r\ncookie: ${page.headers.cookie}\r\nconnection: close\r\n\r\n`;
    expect(await raw(port, fine)).toContain("a.txt");
  });

  it("a second Origin, an empty one, and one that a browser withholds are refused", async () => {
    const { port, host, origin } = new URL(page.base);
    for (const head of [
      `origin: ${origin}\r\norigin: http://evil.example\r\n`,
      "origin:\r\n",
      "origin: null\r\n",
    ]) {
      const request = `GET /review/api/changes HTTP/1.1\r\nhost: ${host}\r\n${head}cookie: ${page.headers.cookie}\r\nconnection: close\r\n\r\n`;
      const said = await raw(port, request);
      expect([head, said.slice(9, 12), said.includes("a.txt")]).toEqual([head, "403", false]);
    }
  });

  // Only the administrator can start programs as another user, and only /proc tells whose a connection is.
  it.runIf(hasProc && process.getuid?.() === 0)(
    "the address on the browser's command line is useless to another user who lists processes",
    async () => {
      const opened = join(fixture.base, "opened");
      writeFileSync(join(fixture.base, "xdg-open"), `#!/bin/sh\nprintf %s "$1" > "${opened}"\n`, {
        mode: 0o755,
      });
      const env = { ...fixture.environment, PATH: `${fixture.base}:${process.env.PATH}` };
      const child = startLeashed(["review", fixture.root], { cwd: fixture.root, env });
      try {
        await expect
          .poll(() => existsSync(opened) && readFileSync(opened, "utf8"), { timeout: 30_000 })
          .toBeTruthy();
        const url = readFileSync(opened, "utf8");
        const asOther = spawnSync(
          process.execPath,
          [
            "-e",
            `fetch(${JSON.stringify(url)}, { redirect: "manual" }).then(one => console.log(one.status))`,
          ],
          { uid: 65_534, gid: 65_534, cwd: "/", encoding: "utf8" },
        );
        expect(asOther.stdout.trim()).toBe("401");
        expect((await ask(url)).status).toBe(303);
        expect((await ask(url)).status).toBe(401);
      } finally {
        child.kill();
      }
    },
  );

  it("a cookie sent for a page of another origin is useless to that page", async () => {
    for (const origin of [
      "http://evil.example",
      "null",
      "http://127.0.0.1:1",
      page.base.replace("http:", "file:"),
    ]) {
      const headers = { ...page.headers, ...json, origin };
      for (const asking of [{ method: "POST", body: JSON.stringify({ change }) }, { method: "GET" }]) {
        const path = asking.method === "POST" ? "api/undo" : `api/changes/${change}`;
        const answer = await ask(page.base + path, { ...asking, headers });
        expect([origin, answer.status, leaks(answer)]).toEqual([origin, 403, false]);
        expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
      }
    }
    for (const site of ["cross-site", "same-site"]) {
      const headers = {
        ...page.headers,
        "sec-fetch-site": site,
        "sec-fetch-mode": "no-cors",
        "sec-fetch-dest": "script",
      };
      expect((await ask(`${page.base}api/changes`, { headers })).status).toBe(403);
    }
    expect(fixture.read("a.txt")).toBe("changed\n");
  });

  it("a form, or a request without our header, changes nothing", async () => {
    for (const headers of [
      { "content-type": "text/plain", "x-polyfs-review": "1" },
      { "content-type": "application/x-www-form-urlencoded", "x-polyfs-review": "1" },
      { "content-type": "application/json" },
    ]) {
      const all: Record<string, string> = { ...page.headers };
      for (const [name, value] of Object.entries(headers)) if (value !== undefined) all[name] = value;
      const answer = await ask(`${page.base}api/undo`, {
        method: "POST",
        headers: all,
        body: JSON.stringify({ change }),
      });
      expect(answer.status).toBeGreaterThanOrEqual(400);
    }
    expect(fixture.read("a.txt")).toBe("changed\n");
  });

  it("a host name rebound to this address is refused, with the cookie or without", async () => {
    const { port } = new URL(page.base);
    for (const host of [
      "evil.example",
      `evil.example:${port}`,
      "127.0.0.1:1",
      `127.0.0.1.evil.example:${port}`,
    ]) {
      const answer = await ask(`${page.base}api/changes`, { headers: { ...page.headers, host } });
      expect([host, answer.status, leaks(answer)]).toEqual([host, 403, false]);
      const entering = await ask(address, { headers: { host } });
      expect([entering.status, entering.headers["set-cookie"]]).toEqual([403, undefined]);
    }
  });

  it("every answer forbids scripts from elsewhere, frames, sniffing and caches", async () => {
    const answers = [
      await page.get(""),
      await page.get("api/changes"),
      await page.get("api/none"),
      await ask(page.base),
      await ask(`${page.base}api/changes`, { headers: { host: "evil.example" } }),
    ];
    for (const { headers } of answers) {
      const policy = headers["content-security-policy"] ?? "";
      expect(policy).toMatch(/default-src 'none'; script-src 'self'; style-src 'self'/);
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "cache-control": "no-store" });
    }
  });

  it("files come from the page's own folder alone", async () => {
    for (const path of [
      "../polyfs.cjs",
      "..%2fpolyfs.cjs",
      "%2e%2e/package.json",
      "/etc/passwd",
      ".bundle",
      "app.html",
    ]) {
      const answer = await ask(page.base + path, { headers: page.headers });
      expect([path, answer.status >= 300]).toEqual([path, true]);
    }
  });

  it("the socket of a server answers only clients that can read its file, and only the owner can access both", async () => {
    const servers = join(fixture.state, "review/servers");
    const names = readdirSync(servers);
    const file = names.find(name => name.endsWith(".json")) ?? "";
    expect(statSync(fixture.state).mode & 0o077).toBe(0);
    expect(statSync(join(servers, file)).mode & 0o077).toBe(0);
    const { id } = JSON.parse(readFileSync(join(servers, file), "utf8"));
    const said = await new Promise<string>(resolve => {
      let text = "";
      const socket = connect(join(servers, `${id}.sock`));
      socket.on("data", chunk => {
        text += chunk;
      });
      socket.on("error", () => {});
      socket.on("close", () => resolve(text));
      socket.write(`${JSON.stringify({ is: "hello", secret: "guess", attended: true })}\n`);
    });
    expect(said).toBe("");
  });
});

describe("hostile names and contents", () => {
  it("markup in names and contents is data in JSON, never a document", async () => {
    const name = '<img src=x onerror="alert(1)">.html';
    const id = await agent.change("write_file", { path: name, content: "<script>alert(2)</script>\n" });
    await expect
      .poll(async () => (await page.get(`api/changes/${id}`)).status, { timeout: 30_000 })
      .toBe(200);
    const answer = await page.get(`api/changes/${id}`);
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(answer.json.change.files[0].name).toBe(name);
    expect((await page.get(encodeURIComponent(name))).status).toBe(404);
  });

  it("an event cannot be forged by a line break in a name", async () => {
    const stream = await page.events();
    const name = "x\n\nevent: settled\ndata: {}\n\n.txt";
    const id = await agent.change("write_file", { path: name, content: "x\n" });
    const { data } = await stream.next("change", one => one.id === id);
    expect(data.files[0]?.name).not.toContain("\n");
  });

  it("a difference of 50 MB, a binary and broken UTF-8 are reported in few words", async () => {
    const large = "0123456789abcdef\n".repeat(3_100_000);
    writeFileSync(join(fixture.root, "large.txt"), large);
    const ids = [
      await agent.change("delete_path", { path: "large.txt" }),
      await agent.change("write_file", { path: "many.txt", content: "line\n".repeat(200_000) }),
    ];
    writeFileSync(join(fixture.root, "broken.txt"), Buffer.from("caf\xe9 \xff\xfe\n", "latin1"));
    ids.push(
      await agent.change("edit_file", { path: "broken.txt", edits: [{ insert_after: -1, new: "more" }] }),
    );
    writeFileSync(
      Buffer.concat([Buffer.from(`${fixture.root}/`), Buffer.from([0x66, 0xff, 0xfe])]),
      "named\n",
    );
    const listed = (await agent.call("list_directory", {})).text;
    const [, odd = ""] = /^(f\\x\S+)/m.exec(listed) ?? [];
    ids.push(await agent.change("delete_path", { path: odd }));
    for (const id of ids)
      await expect
        .poll(async () => (await page.get(`api/changes/${id}`)).status, { timeout: 30_000 })
        .toBe(200);
    const answers = await Promise.all(ids.map(async id => await page.get(`api/changes/${id}`)));
    expect(answers.map(({ text }) => text.length < 400_000)).toEqual([true, true, true, true]);
    const [first, second, third, fourth] = answers.map(({ json: { difference } }) => difference.files[0]);
    expect(first).toMatchObject({ shows: "large", hunks: [] });
    expect(second).toMatchObject({ shows: "text", more: true, added: 200_000 });
    expect(third).toMatchObject({ shows: "text" });
    expect(fourth).toMatchObject({ effect: "removed" });
    expect((await page.post("api/undo", { change: ids[3] })).json.done).toBe(true);
    expect((await agent.call("list_directory", {})).text).toContain(odd);
  });

  it("invalid requests are refused, and the page keeps working", async () => {
    for (const body of [
      {},
      { change: "../../etc" },
      { change, task: change },
      { change, hunks: [0] },
      { change, hunks: [1e9] },
      { change, path: "../../../etc/passwd" },
      { change: change.repeat(50) },
      { change, surprise: 1 },
      [],
      null,
    ]) {
      const answer = await page.post("api/undo", body);
      expect([JSON.stringify(body), answer.status >= 400 && answer.status < 500]).toEqual([
        JSON.stringify(body),
        true,
      ]);
      expect(answer.json.message).toEqual(expect.any(String));
    }
    const huge = await ask(`${page.base}api/notes`, {
      method: "POST",
      headers: { ...page.headers, ...json },
      body: JSON.stringify({ change, text: "x".repeat(2_000_000) }),
    }).catch(() => ({ status: 413 }));
    expect(huge.status).toBe(413);
    for (const query of [
      "changes?limit=x",
      "changes?before=../x",
      "search",
      `search?text=${"x".repeat(2000)}`,
    ])
      expect((await page.get(`api/${query}`)).status).toBe(400);
    expect((await page.get("api/session")).status).toBe(200);
  });
});
