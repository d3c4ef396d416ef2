// Opens an address in the user's browser, by the program that the system has for that.
import { spawn } from "node:child_process";

const openers: { readonly [platform: string]: readonly [program: string, ...args: string[]] } = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Resolves to whether the program could be started. Its output is discarded. */
export async function openAddress(url: string): Promise<boolean> {
  const [program, ...args] = openers[process.platform] ?? ["xdg-open"];
  return await new Promise<boolean>(resolve => {
    const child = spawn(program, [...args, url], { stdio: "ignore", detached: true });
    child.once("error", () => resolve(false));
    child.once("spawn", () => resolve(true));
    child.unref();
  });
}
