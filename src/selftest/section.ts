// What one part of the self-test tried, and what of it failed.

export class Section {
  readonly name: string;
  tried = 0;
  readonly failures: string[] = [];
  /** What could not be tried here, and other remarks. */
  readonly notes: string[] = [];

  constructor(name: string) {
    this.name = name;
  }

  holds(what: string, isSo: boolean, found = ""): void {
    this.tried++;
    if (!isSo) this.failures.push(found === "" ? what : `${what}: ${JSON.stringify(found.slice(0, 300))}`);
  }

  /** An answer that must contain each of these. */
  async tells(what: string, answer: Promise<string>, ...wanted: readonly string[]): Promise<string> {
    const got = await answer;
    this.holds(
      what,
      wanted.every(part => got.includes(part)),
      got,
    );
    return got;
  }
}
