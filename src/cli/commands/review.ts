// `polyfs review`: the review page on this machine, for the user who starts it. It reads the state directory, so it
// shows what every server of this user does, whichever client started it.
import { openAddress } from "../../engine/shell/open-address.ts";
import { createLog } from "../../mcp/log.ts";
import { reviewEntry } from "../../mcp/review-audit.ts";
import { servePage } from "../../review/http/listen.ts";
import { openAudit } from "../audit.ts";
import { print } from "../print.ts";
import { ReviewScope } from "../review/scope.ts";
import { untilSignal } from "../review/until-signal.ts";
import { withDirectory } from "../review/with-directory.ts";
import { UsageError } from "../usage-error.ts";
import { command, directoryOptions } from "./command.ts";

export const review = command({
  name: "review",
  operands: "[DIR]",
  description:
    "Opens a page in the browser: what agents do now, changes by task, file and hunk, to keep or undo, questions of the policy, and notes to the agent. It shows the work of all polyfs servers of this user, or only what was changed in DIR. The page is served on the loopback interface until Ctrl-C; its address works once.",
  own: {
    "no-open": { help: "Only print the address; start no browser" },
    port: { value: "N", help: "Listen on this port (default: a free one)" },
  },
  options: [...directoryOptions, "policy", "audit", "audit-max-bytes", "log-level", "store", "store-objects"],
  examples: [
    ["polyfs review", "everything that agents did and do on this machine"],
    ["polyfs review ~/project", "only what was changed there"],
    ["polyfs review --no-open --port 7777", "print the address, for example to forward the port by ssh"],
  ],
  most: 1,
  async run({ operands: [directory], own, config }) {
    const port = portOf(own.get("port"));
    using scope = new ReviewScope(withDirectory(config, directory));
    const log = createLog(config["log-level"]);
    using audit = openAudit(config, scope.workspace, log);
    const page = await servePage(scope.review, () => scope, {
      port,
      ...(audit && { watch: { record: action => audit.append(reviewEntry(action)) } }),
      failed: error => log.error("the page failed", error),
    }).catch((error: unknown) => {
      throw new UsageError(
        `cannot listen on port ${port}: ${error instanceof Error ? error.message : error}`,
      );
    });
    await print(process.stdout, `${page.url}\n`);
    const opened = !own.has("no-open") && (await openAddress(page.ownUrl));
    await print(
      process.stderr,
      `${opened ? "The page opens in your browser." : "Open this address in a browser; it works once."} Ctrl-C ends it.\n`,
    );
    await untilSignal(audit && (() => audit.reopen()));
    await page.close();
    return 0;
  },
});

function portOf(given = "0"): number {
  if (/^\d{1,5}$/.test(given) && Number(given) < 65_536) return Number(given);
  throw new UsageError(`--port must be a number up to 65535, not ${JSON.stringify(given)}`);
}
