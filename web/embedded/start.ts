// Starts the page inside a client: shakes hands, takes the client's colours and room, and asks through it.
import { grouping, reloadLists } from "../state/history.ts";
import { useTransport } from "../state/request.ts";
import { hostTheme } from "../state/theme.ts";
import { Bridge, isRecord } from "./bridge.ts";
import { EmbeddedServer } from "./transport.ts";

/** Enough for a list and a difference; the page scrolls inside. */
const height = 560;

export const isInClient = "embedded" in document.documentElement.dataset;

export async function startInClient(): Promise<void> {
  const bridge = new Bridge();
  useTransport(new EmbeddedServer(bridge).transport);
  grouping.value = "changes";
  bridge.on("ui/notifications/host-context-changed", take);
  bridge.on("ui/notifications/tool-result", reloadLists);
  const answer = await bridge.request("ui/initialize", {
    protocolVersion: "2026-01-26",
    appInfo: { name: "polyfs review", version: "1" },
    appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
  });
  if (isRecord(answer) && isRecord(answer.hostContext)) take(answer.hostContext);
  bridge.notify("ui/notifications/initialized");
  new ResizeObserver(() => {
    const { width, height: tall } = document.documentElement.getBoundingClientRect();
    bridge.notify("ui/notifications/size-changed", { width: Math.ceil(width), height: Math.ceil(tall) });
  }).observe(document.documentElement);
}

function take({ theme, styles, containerDimensions, displayMode }: Readonly<Record<string, unknown>>): void {
  if (theme === "light" || theme === "dark") hostTheme(theme);
  const { style } = document.documentElement;
  const variables = isRecord(styles) && isRecord(styles.variables) ? styles.variables : {};
  const { "--font-sans": sans, "--font-mono": mono } = variables;
  if (typeof sans === "string") style.setProperty("--sans", sans);
  if (typeof mono === "string") style.setProperty("--mono", mono);
  if (!isRecord(containerDimensions) && displayMode === undefined) return;
  const { height: given, maxHeight } = isRecord(containerDimensions) ? containerDimensions : {};
  const isFixed = typeof given === "number" || displayMode === "fullscreen";
  const most = typeof maxHeight === "number" ? maxHeight : height;
  style.setProperty("--height", isFixed ? "100dvh" : `${Math.min(height, most)}px`);
}
