// The review suite: the page in a real Chromium, while real servers change files.
import type { Suite } from "../suite.ts";
import { tryAccessibility } from "./accessibility.ts";
import { tryChanges } from "./changes.ts";
import { findChromium, launch } from "./chromium.ts";
import { tryEmbedded } from "./embedded.ts";
import { tryHostileText } from "./hostile-text.ts";
import { tryKeys } from "./keys.ts";
import { tryLive } from "./live.ts";
import { tryOverHttp } from "./over-http.ts";
import { tryWorkspaces } from "./workspaces.ts";

export const reviewSuite: Suite = {
  name: "review",
  async run(trial) {
    const executable = findChromium();
    if (executable === undefined) {
      trial.tally.skipped("page", "no Chromium on this machine");
      trial.say("no Chromium on this machine: install Debian's chromium, or name one in CHROMIUM");
      return;
    }
    const browser = await launch(executable);
    try {
      for (const part of [
        tryChanges,
        tryLive,
        tryOverHttp,
        tryWorkspaces,
        tryHostileText,
        tryKeys,
        tryAccessibility,
        tryEmbedded,
      ])
        await part(browser, trial);
    } finally {
      await browser.close();
    }
  },
};
