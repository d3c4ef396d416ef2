// Commands under rules: whatever a shell tries, it sees what the tools see.
import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findSandbox } from "../../src/engine/shell/sandbox.ts";

const program = join(import.meta.dirname, "../../dist/polyfs.cjs");
const run = promisify(execFile);
const found = await findSandbox();

let base: string;
let root: string;
let env: NodeJS.ProcessEnv;
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), "polyfs-policy-run-"));
  env = { ...process.env, XDG_CONFIG_HOME: join(base, "config"), HOME: join(base, "home") };
  root = join(base, "root");
  mkdirSync(join(root, "secrets/deep"), { recursive: true });
  mkdirSync(join(root, "app"));
  execFileSync("git", ["init", "-q", root]);
  writeFileSync(join(root, ".gitignore"), ".env\nsecrets\n*.pem\n");
  writeFileSync(join(root, ".env"), "TOKEN=CANARY1\nPORT=80\n");
  writeFileSync(join(root, "secrets/deep/key"), "CANARY2");
  writeFileSync(join(root, "server.pem"), "CANARY3");
  writeFileSync(join(root, "app/a.txt"), "protected\n");
  mkdirSync(join(root, "migrations"));
  writeFileSync(join(root, "migrations/1.sql"), "one\n");
  writeFileSync(join(root, "asked.txt"), "asked\n");
  const rules = [
    { paths: [".env"], access: "mask" },
    { paths: ["secrets/**", "*.pem"], access: "deny" },
    { paths: ["app/**"], access: "read" },
    { paths: ["migrations/**", "asked.txt"], access: "write", ask: ["write", "delete"] },
  ];
  writeFileSync(join(base, "policy.json"), JSON.stringify({ rules }));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

function inSandbox(command: string): Promise<string> {
  return inTool("run_command", { command });
}

async function inTool(tool: string, given: object): Promise<string> {
  const line = [program, "call", "--text", "--allow-run", "--policy", join(base, "policy.json")];
  line.push("--state-dir", join(base, "state"), "--allow-write", root, tool, JSON.stringify(given));
  const { stdout, stderr } = await run(process.execPath, line, { env }).catch(
    error => error as { stdout: string; stderr: string },
  );
  return stdout + stderr;
}

const idioms = [
  "cat .env secrets/deep/key server.pem",
  "head -c 100 ./.env; tail -c 100 .//.env; dd if=.env 2>/dev/null; od -c .env",
  `python3 -c 'print(open(".env").read())'`,
  `node -e 'console.log(require("fs").readFileSync(".env","utf8"))'`,
  "ln -s .env link; cat link; ln -s secrets other; cat other/deep/key; rm -f link other",
  "ln .env hard; cat hard; cp .env copy; cat copy; rm -f hard copy",
  "mv .env moved; cat moved; mv secrets gone; cat gone/deep/key",
  "cat /proc/self/root$PWD/.env /proc/self/cwd/.env /proc/1/root$PWD/.env",
  "exec 9<.env; cat <&9; cat /proc/self/fd/9 /dev/fd/9",
  "tar cf - .env secrets server.pem | strings; find . -name '*.pem' -exec cat {} +",
  "grep -r CANARY . ; rg -uuu CANARY . ; rg --pre cat CANARY .env",
  "git add -f .env server.pem secrets; git show :.env; git stash -a; git stash show -p; git diff --no-index /dev/null .env",
  "sed -i.bak s/x/y/ .env; cat .env.bak .env~; vi -es -c 'w! copy' -c q .env; cat copy",
  "mount --bind secrets app; umount .env; umount -l secrets; cat .env; unshare -Urm umount .env",
  "mkdir -p up && cd up && cat ../.env ../secrets/deep/key; cd .. && rmdir up",
  "chmod 777 .env server.pem secrets; chown root .env; cat .env server.pem",
  "rsync -a .env copy; install .env copy2; cat copy copy2; rm -f copy copy2",
  "openssl enc -base64 -in .env; base64 .env | base64 -d; xxd .env",
  "while read -r line; do echo $line; done < .env; . ./.env; echo $TOKEN",
  "perl -ne print .env; awk 1 secrets/deep/key; sort server.pem",
];

describe.skipIf("missing" in found)("a command in the sandbox", () => {
  it.each(idioms)("learns no secret from: %s", async command => {
    expect(await inSandbox(command)).not.toContain("CANARY");
    expect(readFileSync(join(root, ".env"), "utf8")).toBe("TOKEN=CANARY1\nPORT=80\n");
    expect(readFileSync(join(root, "secrets/deep/key"), "utf8")).toBe("CANARY2");
    expect(readFileSync(join(root, "server.pem"), "utf8")).toBe("CANARY3");
  });
  it("reports the files that it creates under a rule, and counts denied ones without naming them", async () => {
    const answer = await inSandbox("mkdir sub; echo k > sub/new.pem; echo k > other.pem; echo f > sub/free");
    expect(answer).toContain("A sub/");
    expect(answer).toContain("[2 changes not listed: the policy denies the path]");
    const masked = await inSandbox("echo A=CANARY4 > sub/.env");
    expect(masked).toContain("A sub/.env (masked by the policy)");
    const listed = await inTool("list_changes", { diff: true });
    expect(listed).toContain("[1 change not listed: the policy denies the path]"); // the other is a part of sub/
    for (const one of [answer, masked, listed]) expect(one).not.toMatch(/\.pem|CANARY/);
    execFileSync("rm", ["-rf", join(root, "sub"), join(root, "other.pem")]);
  });
  it("sees keys, cannot change what is protected, and may change the rest", async () => {
    const answer = await inSandbox(
      "cat .env app/a.txt; echo x > app/a.txt; rm -rf app; mv app b; echo fine > free.txt",
    );
    expect(answer).toContain("TOKEN=••••");
    expect(answer).toContain("protected");
    expect(readFileSync(join(root, "app/a.txt"), "utf8")).toBe("protected\n");
    expect(existsSync(join(root, "free.txt"))).toBe(true);
  });
  it("cannot change what a rule asks about, until a person grants it", async () => {
    const command =
      "echo z > migrations/1.sql; touch migrations/2.sql; rm -rf migrations; mv migrations m; echo z > asked.txt; rm asked.txt; true";
    const refused = await inSandbox(command);
    expect(refused).toContain("[paths that need approval are read-only for commands");
    expect(readFileSync(join(root, "migrations/1.sql"), "utf8")).toBe("one\n");
    expect(existsSync(join(root, "migrations/2.sql"))).toBe(false);
    expect(readFileSync(join(root, "asked.txt"), "utf8")).toBe("asked\n");
    await run(process.execPath, [program, "grant", join(root, "migrations"), "--write", "--delete"], { env });
    await inSandbox("echo two > migrations/1.sql; echo z > asked.txt");
    expect(readFileSync(join(root, "migrations/1.sql"), "utf8")).toBe("two\n");
    expect(readFileSync(join(root, "asked.txt"), "utf8")).toBe("asked\n");
    await run(process.execPath, [program, "grant", join(root, "asked.txt"), "--write"], { env });
    await inSandbox("echo z > asked.txt");
    expect(readFileSync(join(root, "asked.txt"), "utf8")).toBe("asked\n");
  });
  it("creates under a rule that denies it, and the answer does not name it", async () => {
    expect(await inSandbox("touch new.pem shown.txt")).toMatch(/shown\.txt/);
    expect(await inSandbox("echo again > new.pem")).not.toContain("A new.pem");
  });
});
