// The command: runs one suite, reports each failure at once, and ends with one line of counts.
import { readOptions, usage } from "./options.ts";
import { prove } from "./prove.ts";
import { shortForms, suites } from "./suites.ts";

// Servers and trees are cleared away when the process exits, also on these.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));

const { suite: name, help, list, ...run } = readOptions(process.argv.slice(2));
const load = suites[name];
if (list) {
  process.stdout.write(`${shortForms.join("\n")}\n`);
} else if (help || load === undefined) {
  process.stdout.write(usage);
  process.exitCode = help ? 0 : 2;
} else {
  const tally = await prove(await load(), run, line => console.log(line));
  console.log(tally.summary());
  const isVoid = tally.tried + tally.notRun.size === 0;
  if (isVoid)
    console.log(`No case was tried${run.only === undefined ? "." : `: none begins with ${run.only}.`}`);
  process.exitCode = tally.failures.length === 0 && !isVoid ? 0 : 1;
}
