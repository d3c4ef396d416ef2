// Two servers edit the lines of one file at the same time. No edit is lost, and none is refused.
import type { Fixture } from "./fixture.ts";
import type { Section } from "./section.ts";
import type { ServedProgram } from "./served-program.ts";

export async function together(
  section: Section,
  fixture: Fixture,
  servers: readonly ServedProgram[],
  edits: number,
): Promise<void> {
  const lines = Array.from({ length: edits }, (_, i) => `line ${i} old\n`);
  fixture.write("shared.txt", lines.join(""));
  await Promise.all(
    servers.map(async (server, turn) => {
      for (let i = turn; i < edits; i += servers.length) {
        const change = [{ old: `line ${i} old`, new: `line ${i} new` }];
        const told = await server.call("edit_file", { path: "shared.txt", edits: change });
        section.holds(`edit ${i}`, told.startsWith("edited"), told);
        await section.tells(
          "it is read meanwhile",
          server.call("read_file", { path: "shared.txt" }),
          "line 0",
        );
      }
    }),
  );
  section.holds("no edit is lost", fixture.text("shared.txt") === lines.join("").replaceAll("old", "new"));
}
