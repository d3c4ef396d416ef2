// The Chromium of this machine, where there is one.
import { accessSync, constants } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const places = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** CHROMIUM names another one. */
export function findChromium(): string | undefined {
  return [process.env.CHROMIUM ?? "", ...places].find(isExecutable);
}

export async function launch(executablePath: string): Promise<Browser> {
  return await chromium.launch({ executablePath, args: ["--disable-dev-shm-usage"] });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return path !== "";
  } catch {
    return false;
  }
}
