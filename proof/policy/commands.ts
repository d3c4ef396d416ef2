// Commands in the sandbox, by every tool that runs them: whatever a shell tries, it sees what the tools see.
import type { Trial } from "../suite.ts";
import type { Twins } from "./twins.ts";

export const idioms: readonly string[] = [
  "cat .env vault/key.txt server.pem secrets.yaml config/secrets.json",
  "head -c 100 ./.env; tail -c 100 .//.env; dd if=.env 2>/dev/null; od -c .env | sort -u",
  `python3 -c 'print(open(".env").read())'`,
  `node -e 'console.log(require("fs").readFileSync(".env","utf8"))'`,
  "ln -s .env l; cat l; ln -s vault o; cat o/key.txt; rm -f l o",
  "ln .env hard; cat hard; cp .env copy; cat copy; rm -f hard copy",
  "mv .env moved; cat moved; mv vault gone; cat gone/key.txt",
  "cat /proc/self/root$PWD/.env /proc/self/cwd/.env /proc/1/root$PWD/.env",
  "exec 9<.env; cat <&9; cat /proc/self/fd/9 /dev/fd/9",
  "tar cf - .env vault server.pem 2>/dev/null | tr -d '\\0' | grep -a CANARY",
  "find . -name '*.pem' -exec cat {} +; find vault -type f | xargs cat",
  "grep -r CANARY .; grep -c . .env; wc -c .env secrets.yaml; ls -s .env",
  "git init -q . 2>/dev/null; git add -f .env; git show :.env; git stash -a; git diff --no-index /dev/null .env; rm -rf .git",
  "sed -i.bak s/x/y/ .env; cat .env.bak .env~; rm -f .env.bak",
  "mount --bind vault sub; umount .env; umount -l vault; unshare -Urm umount .env; cat .env",
  "mkdir -p up && cd up && cat ../.env ../vault/key.txt; cd .. && rmdir up",
  "chmod 777 .env server.pem vault; cat .env server.pem",
  "rsync -a .env copy; install .env copy2; cat copy copy2; rm -f copy copy2",
  "base64 .env | base64 -d; xxd .env; openssl enc -base64 -in .env",
  "while read -r line; do echo $line; done < .env; . ./.env; echo $SECRET_TOKEN",
  "echo x > locked/001.sql; rm -rf locked; mv locked l; touch locked/new; truncate -s 0 locked/001.sql; cp pub.txt locked/",
  "rm -rf vault server.pem; echo x > server.pem; echo x >> vault/key.txt; mkdir vault/new",
  "cat cafe*.txt; cat caf\u00e9.txt; cat cafe\u0301.txt; cat SERVER.PEM .ENV",
  // Long output is kept in a file: it must not hold more than the answer.
  "for i in $(seq 400); do cat .env secrets.yaml vault/key.txt; done 2>&1; yes x | head -c 300000",
];

export async function tryCommands(twins: Twins, { tally }: Trial): Promise<void> {
  const { dialect } = twins;
  const tools = dialect.tools.filter(
    ({ effect, input }) => effect === "runs" && "command" in input.properties,
  );
  for (const { name } of tools) {
    for (const command of idioms) {
      const what = `command ${dialect.name} ${name} ${command.slice(0, 60)}`;
      if (!tally.wants(what)) continue;
      await tally.attempt(what, () =>
        twins.ask(() => ({ method: "tools/call", params: { name, arguments: { command } } })),
      );
    }
  }
}
