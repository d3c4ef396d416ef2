// `polyfs watch`: what the review page shows live, as lines in a terminal: calls, changes, questions and notes of every
// server of this user.
import type { Call, ChangeSummary, Question } from "../../review/api.ts";
import type { Event } from "../../review/events.ts";
import { OutputError } from "../output-error.ts";
import { print } from "../print.ts";
import { ReviewScope } from "../review/scope.ts";
import { untilSignal } from "../review/until-signal.ts";
import { withDirectory } from "../review/with-directory.ts";
import { type Style, styleOf, visible } from "../style.ts";
import { command, directoryOptions } from "./command.ts";

export const watch = command({
  name: "watch",
  operands: "[DIR]",
  description:
    "Prints what agents do as it happens, one line each: calls with client, tool, path and duration, changes with their files, questions of the policy, notes. It shows the work of all polyfs servers of this user, or only events in DIR, until Ctrl-C. To answer questions, use the page (polyfs review) or polyfs grant.",
  own: {
    json: { help: "Print each event as a line of JSON: event and data, as the review page gets them" },
    changes: { help: "Only changes, no calls" },
  },
  options: [...directoryOptions, "policy", "log-level"],
  examples: [
    ["polyfs watch", "everything that agents do on this machine"],
    ["polyfs watch --changes ~/project", "what they change there"],
    ["polyfs watch --json | jq 'select(.event == \"change\")'", "for programs"],
  ],
  most: 1,
  async run({ operands: [directory], own, config }) {
    using scope = new ReviewScope(withDirectory(config, directory));
    const style = styleOf(process.stdout);
    let closed = () => {};
    const output = new Promise<void>(resolve => {
      closed = resolve;
    });
    let queue = Promise.resolve();
    const write = (text: string) => {
      queue = queue
        .then(() => print(process.stdout, text))
        .catch(error => {
          if (!(error instanceof OutputError)) throw error;
          closed(); // the reader is gone
        });
    };
    await scope.review.index.ready;
    // Questions cannot be answered here, so none must wait for this.
    const stop = scope.review.listen(
      scope,
      (_, { name, data }) => {
        if (own.has("changes") && name !== "change") return;
        if (own.has("json")) write(`${JSON.stringify({ event: name, data })}\n`);
        else {
          const line = lineOf({ name, data } as Event, style);
          if (line !== undefined) write(`${line}\n`);
        }
      },
      undefined,
      { answers: false },
    );
    await print(process.stderr, "Watching. Ctrl-C ends it.\n");
    await Promise.race([untilSignal(), output]);
    stop();
    await queue;
    return 0;
  },
});

function lineOf(event: Event, style: Style): string | undefined {
  switch (event.name) {
    case "call":
      return callLine(event.data, style);
    case "change":
      return changeLine(event.data, style);
    case "question":
      return questionLine(event.data, style);
    case "settled":
      return `${time(Date.now(), style)} question ${event.data.outcome}`;
    case "note":
      return event.data.read
        ? undefined
        : `${time(event.data.time, style)} note on ${event.data.change} ${word(event.data.name ?? "")}: ${word(event.data.text)}`;
    case "servers":
      return `${time(Date.now(), style)} ${style.dim(`${event.data.length} servers run`)}`;
    default:
      return undefined;
  }
}

function callLine({ time: began, agent, tool, paths, ms, outcome, fault }: Call, style: Style): string {
  const told =
    outcome === "ok" ? "" : ` ${style.red(`${outcome}${fault === undefined ? "" : ` (${fault})`}`)}`;
  const named = paths.slice(0, 3).map(word).join(" ");
  const more = paths.length > 3 ? ` and ${paths.length - 3} more` : "";
  return `${time(began, style)} ${word(agent.client)} ${style.bold(word(tool))} ${named}${more} ${style.dim(`${ms} ms`)}${told}`;
}

function changeLine(
  { id, time: made, agent, tool, files, fileCount, undoes }: ChangeSummary,
  style: Style,
): string {
  const named = files.slice(0, 3).map(({ name, added, removed }) => {
    const counts = [added ? style.green(`+${added}`) : "", removed ? style.red(`-${removed}`) : ""];
    return [word(name), ...counts].filter(part => part !== "").join(" ");
  });
  const more = fileCount > 3 ? ` and ${fileCount - 3} more` : "";
  const what = undoes === undefined ? word(tool) : `${word(tool)} of ${undoes}`;
  return `${time(made, style)} ${style.yellow(`change ${id}`)} ${word(agent.client)} ${what}: ${named.join(", ")}${more}`;
}

function questionLine({ time: asked, agent, tool, needs }: Question, style: Style): string {
  const wants = needs.slice(0, 3).map(({ action, name }) => `${action} ${word(name)}`);
  const rule = needs[0]?.rule === undefined ? "" : ` (rule: ${word(needs[0].rule)})`;
  return `${time(asked, style)} ${style.cyan("question")} ${word(agent.client)} ${word(tool)}: ${wants.join(", ")}${rule}`;
}

/** One line, without anything that steers a terminal. */
function word(text: string): string {
  return visible(text.replaceAll("\n", " "));
}

function time(at: number, { dim }: Style): string {
  return dim(new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(11, 19));
}
