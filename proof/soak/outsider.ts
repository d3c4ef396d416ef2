// An editor outside polyfs: it saves whole files as editors do, and changes a line of its own in the ledgers when no
// one else uses them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Chance } from "../chance.ts";
import { blobContent, blobName, blobs, saveFromOutside } from "./blobs.ts";
import type { FileLocks } from "./file-locks.ts";
import type { Slot } from "./ledger.ts";
import type { Place } from "./soak-client.ts";

export class Outsider {
  readonly #place: Place;
  readonly #slots: readonly Slot[];
  readonly #chance: Chance;
  readonly #locks: FileLocks;

  constructor(place: Place, slots: readonly Slot[], chance: Chance, locks: FileLocks) {
    this.#place = place;
    this.#slots = slots;
    this.#chance = chance;
    this.#locks = locks;
  }

  step(): void {
    const { root, meter } = this.#place;
    meter.counts.outside++;
    if (this.#chance.below(3) === 0) {
      saveFromOutside(root, blobName(this.#chance.below(blobs)), blobContent(this.#chance));
      return;
    }
    const slot = this.#chance.pick(this.#slots);
    using lock = this.#locks.exclusive(slot.file);
    const old = slot.stands;
    if (lock === undefined || old === undefined) return;
    const complaint = slot.complaint();
    if (complaint !== undefined) meter.violation("lost edit", complaint);
    const line = slot.next();
    const text = readFileSync(join(root, slot.file), "latin1");
    saveFromOutside(root, slot.file, text.replace(old, line));
    slot.done(line);
  }
}
