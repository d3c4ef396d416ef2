// What the person who starts the server decides, as plain values with the defaults that the contracts publish.

export interface Settings {
  /** Advertise tools without the dialect's prefix, for clients that refuse dots. */
  readonly plainNames: boolean;
  /** The cap on one answer, in bytes, where a contract has a single one. */
  readonly maxOutputBytes: number;
  /** The largest file that is read or edited whole, where a contract has a single limit. */
  readonly maxFileBytes: number;
  /** The directory against which relative paths of some contracts are resolved, and `~`. */
  readonly workingDirectory: string;
  readonly homeDirectory: string;
}

export const defaultSettings: Settings = {
  plainNames: false,
  maxOutputBytes: 131_072,
  maxFileBytes: 20_000_000,
  workingDirectory: process.cwd(),
  homeDirectory: process.env.HOME ?? process.cwd(),
};
