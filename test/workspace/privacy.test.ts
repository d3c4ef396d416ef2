// macOS refuses folders with EPERM that its user has not let the program into: the answer says what to do.
import { afterEach, expect, it } from "vitest";
import { plainWording, say } from "../../src/contract/wording.ts";
import type { Fault } from "../../src/engine/fault.ts";
import { faultOf } from "../../src/engine/workspace/errno.ts";

const real = Object.getOwnPropertyDescriptor(process, "platform");
afterEach(() => Object.defineProperty(process, "platform", real ?? {}));

function answer(platform: string, code: string): string {
  Object.defineProperty(process, "platform", { value: platform, configurable: true });
  const refused = Object.assign(new Error(code), { code, syscall: "open" });
  return say(plainWording, faultOf(refused, "/Users/me/Desktop/a.txt") as Fault<"permission_denied">);
}

it("an answer names the setting where macOS may have refused, and only there", () => {
  expect(answer("darwin", "EPERM")).toMatch(/Permission denied: .*a\.txt.*Full Disk Access/s);
  expect(answer("darwin", "EACCES")).toBe("Permission denied: /Users/me/Desktop/a.txt");
  expect(answer("linux", "EPERM")).toBe("Permission denied: /Users/me/Desktop/a.txt");
});
