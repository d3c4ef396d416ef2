// The self-test: short forms of the attack, fault and round-trip suites that need nothing but this program. It is for
// machines that the suites of the repository never see, and its report is made to be sent.
import { closeSync, lstatSync, openSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import { escapeByPaths, escapeInRace } from "./escape.ts";
import { Fixture } from "./fixture.ts";
import { killed } from "./killed.ts";
import { openElsewhere } from "./open-elsewhere.ts";
import { otherSpellings } from "./other-spellings.ts";
import { roundTrip } from "./round-trip.ts";
import { Section } from "./section.ts";
import { ServedProgram } from "./served-program.ts";
import { together } from "./together.ts";

const byCase = ["case-a.txt", "CASE-A.txt"] as const;
const byForm = ["form-\u00e4.txt", "form-a\u0308.txt"] as const;
const sameNames: readonly (readonly [string, string])[] = [byCase, byForm];

export interface SelftestOptions {
  /** The program's own entry, which servers are started from. */
  readonly program: string;
  /** Where temporary directories are made: the file system that is tested. */
  readonly within: string;
  /** How long the race takes; the rest is in proportion. */
  readonly seconds: number;
  /** How objects are held here (system/held.ts), and whether that holds against a race. */
  readonly method: string;
  readonly isRaceFree: boolean;
}

export interface Report {
  readonly facts: Readonly<Record<string, string>>;
  readonly sections: readonly Section[];
}

export async function selftest(options: SelftestOptions, say: (line: string) => void): Promise<Report> {
  const { program, within, seconds, isRaceFree } = options;
  const sections: Section[] = [];
  using fixture = new Fixture(within);
  const start = () => ServedProgram.start(program, fixture);
  const facts = factsOf(options, fixture);
  const part = async (name: string, action: (section: Section) => Promise<void>) => {
    const section = new Section(name);
    sections.push(section);
    say(name);
    try {
      await action(section);
    } catch (error) {
      section.failures.push(`it broke off: ${error instanceof Error ? error.message : error}`);
    }
  };
  const served = (action: (section: Section, fixture: Fixture, server: ServedProgram) => Promise<void>) => {
    return async (section: Section) => {
      const server = await start();
      await action(section, fixture, server);
      await server.end();
    };
  };
  await part("round trip", served(roundTrip));
  const spellings = sameNames.filter(names => isSame(fixture, ...names));
  await part("other spellings of a name", async section => {
    if (spellings.length === 0) section.notes.push("not run: names differ by every character here");
    for (const names of spellings)
      await served((_, __, server) => otherSpellings(section, fixture, server, names))(section);
  });
  if (process.platform === "win32") await part("a file that is open elsewhere", served(openElsewhere));
  await part("escape by paths and links", served(escapeByPaths));
  await part(
    "escape in a race",
    served((section, _, server) => escapeInRace(section, fixture, server, seconds, isRaceFree)),
  );
  await part("two servers on one file", async section => {
    const servers = [await start(), await start()];
    await together(section, fixture, servers, Math.ceil(seconds * 10));
    for (const server of servers) await server.end();
  });
  await part("killed in the middle of changes", section =>
    killed(section, fixture, start, Math.ceil(seconds / 2)),
  );
  return { facts, sections };
}

/** What a reader of the report has to know about the machine. */
function factsOf({ within, method }: SelftestOptions, fixture: Fixture): Record<string, string> {
  return {
    platform: `${process.platform} ${release()} ${process.arch}`,
    node: process.versions.node,
    directory: within,
    "objects are held by": method,
    "names differ by case": isSame(fixture, ...byCase) ? "no" : "yes",
    "names differ by Unicode form": isSame(fixture, ...byForm) ? "no" : "yes",
  };
}

/** Whether two names lead to one file. */
function isSame(fixture: Fixture, name: string, other: string): boolean {
  closeSync(openSync(join(fixture.base, name), "w"));
  return lstatSync(join(fixture.base, other), { throwIfNoEntry: false }) !== undefined;
}
