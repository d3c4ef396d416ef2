// One client: reads, searches, edits its lines, writes whole files, moves its own file around, and undoes changes.
// After each answer it knows what must be on the disk, and checks.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Chance } from "../chance.ts";
import type { Answer } from "../client/client.ts";
import { type Call, callOf } from "../model/calls.ts";
import type { Changing } from "../model/operation.ts";
import { isAcknowledged, operationsByDialect } from "../model/operations-by-dialect.ts";
import { blobContent, blobName, blobs } from "./blobs.ts";
import type { FileLocks } from "./file-locks.ts";
import { ledgerName, ledgers, Slot } from "./ledger.ts";
import { reading } from "./readers.ts";
import type { Place, SoakClient } from "./soak-client.ts";

/** Refusals that a client meets when others work in the same files, or when its last call had no answer. */
const conflicts =
  /stale|changed_meanwhile|changed since|being changed|no_match|not found|not_found|conflict|no match|does not stand|modified|locked|could not find|exists|replaced 0 occurrence/i;

/** The history holds ten thousand changes of all clients; an older one cannot be undone. */
const rememberedCalls = 8000;

export class Worker {
  readonly slots: readonly Slot[];
  readonly #place: Place;
  readonly #client: SoakClient;
  readonly #chance: Chance;
  readonly #locks: FileLocks;
  readonly #own: string;
  /** What its own file held, the oldest first; undefined if that is unknown. */
  #past: string[] | undefined = [];
  /** How many calls all had made when it was last written. */
  #writtenAt = 0;
  #home = 0;
  #homeless = false;
  #count = 0;

  constructor(place: Place, client: SoakClient, number: number, chance: Chance, locks: FileLocks) {
    this.#place = place;
    this.#client = client;
    this.#chance = chance;
    this.#locks = locks;
    this.#own = `own/c${number}.txt`;
    this.slots = Array.from({ length: ledgers }, (_, i) => new Slot(place.root, ledgerName(i), number));
  }

  async step(): Promise<void> {
    const roll = this.#chance.below(100);
    const changes =
      this.#client.dialect === "polyfs" || operationsByDialect[this.#client.dialect] !== undefined;
    if (!changes || roll < 30) return await this.#read();
    if (roll < 65) return await this.#edit();
    if (roll < 80) return await this.#write();
    if (this.#client.dialect !== "polyfs") return await this.#edit();
    if (roll < 87) return await this.#patch();
    return roll < 94 ? await this.#undo() : await this.#move();
  }

  async #read(): Promise<void> {
    const { kind, call } = reading(this.#chance, this.#client.dialect, this.#place.root);
    const answer = await this.#client.call(kind, call);
    if (answer?.failed) this.#refused(kind, answer);
  }

  async #edit(): Promise<void> {
    const slot = this.#chance.pick(this.slots);
    using _lock = await this.#locks.share(slot.file);
    const old = slot.stands;
    this.#check(slot);
    if (old === undefined) return;
    const line = slot.next();
    const operation: Changing = { do: "edit", path: slot.file, edits: [{ old, new: line }] };
    slot.asked(line);
    const answer = await this.#change("edit", operation);
    if (answer === undefined) return;
    if (!isAcknowledged(answer)) return this.#refused("edit", answer);
    slot.done(line);
    this.#check(slot);
  }

  /** Its lines in two files at once: both or none. */
  async #patch(): Promise<void> {
    const [a, b] = this.#chance.shuffled(this.slots);
    if (a === undefined || b === undefined) return;
    using _lock = await this.#locks.share(a.file, b.file);
    const pairs = [a, b].map(slot => ({ slot, old: slot.stands ?? "", line: slot.next() }));
    const hunks = pairs.map(
      ({ slot, old, line }) => `*** Update File: ${slot.file}\n@@\n-${old}\n+${line}\n`,
    );
    const patch = `*** Begin Patch\n${hunks.join("")}*** End Patch\n`;
    for (const { slot, line } of pairs) slot.asked(line);
    const answer = await this.#client.call("patch", { tool: "apply_patch", args: { patch } });
    if (answer === undefined) return;
    if (answer.failed) return this.#refused("patch", answer);
    for (const { slot, line } of pairs) {
      slot.done(line);
      this.#check(slot);
    }
  }

  async #write(): Promise<void> {
    const path = blobName(this.#chance.below(blobs));
    const content = blobContent(this.#chance);
    const answer = await this.#change("write", { do: "write", path, content, mode: "overwrite" });
    if (answer?.failed) this.#refused("write", answer);
  }

  /** Its own file: written, or the last write undone. */
  async #undo(): Promise<void> {
    const path = this.#own;
    const { calls } = this.#place.meter.counts;
    const past = calls - this.#writtenAt > rememberedCalls ? [] : this.#past;
    if (past !== undefined && past.length > 1 && this.#chance.below(2) === 0) {
      this.#past = undefined;
      const answer = await this.#client.call("undo", { tool: "undo", args: { path } });
      if (answer === undefined) return;
      if (answer.failed) return this.#refused("undo", answer, false);
      const wanted = past.at(-2) ?? "";
      if (readFileSync(join(this.#place.root, path), "utf8") !== wanted)
        this.#place.meter.violation("history", `${path} is not what it was before the change`);
      // The undo is the last change now: taking that back would bring the later content again.
      this.#past = [wanted];
      return;
    }
    const content = `own ${++this.#count}\n${blobContent(this.#chance).slice(0, 500)}\n`;
    const known = past ?? [];
    this.#past = undefined;
    const answer = await this.#client.call("write", { tool: "write_file", args: { path, content } });
    if (answer === undefined) return;
    if (answer.failed) return this.#refused("write", answer, false);
    this.#past = [...known.slice(-3), content];
    this.#writtenAt = calls;
  }

  /** A file that is in exactly one of two places. */
  async #move(): Promise<void> {
    const name = this.#own.replace("own/", "");
    const from = `home${this.#home}/${name}`;
    const to = `home${1 - this.#home}/${name}`;
    if (this.#homeless) {
      this.#home = existsSync(join(this.#place.root, from)) ? this.#home : 1 - this.#home;
      this.#homeless = false;
      return;
    }
    this.#homeless = true;
    const answer = await this.#client.call("move", { tool: "move_path", args: { from, to } });
    if (answer === undefined) return;
    if (answer.failed) return this.#refused("move", answer);
    this.#home = 1 - this.#home;
    this.#homeless = false;
  }

  async #change(kind: string, operation: Changing): Promise<Answer | undefined> {
    const { dialect } = this.#client;
    const absolute = (path: string) => join(this.#place.root, path);
    const said: Call | undefined =
      dialect === "polyfs"
        ? callOf(operation, path => path)
        : operationsByDialect[dialect]?.(operation, absolute);
    return said && (await this.#client.call(kind, said));
  }

  #check(slot: Slot): void {
    const complaint = slot.complaint();
    if (complaint !== undefined) this.#place.meter.violation("lost edit", complaint);
  }

  #refused(kind: string, { text }: Answer, expected = conflicts.test(text)): void {
    const [first = ""] = text.split("\n");
    const { meter } = this.#place;
    const { dialect } = this.#client;
    if (expected) meter.refusal(`${kind} in ${dialect}: ${/^[a-z_]+(?=:)/.exec(first)?.[0] ?? "refused"}`);
    else meter.violation("unexpected error", `${kind} in ${dialect}: ${text.slice(0, 300)}`);
  }
}
