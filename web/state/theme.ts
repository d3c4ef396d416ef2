// Dark or light: the system's choice, until the person makes one. The choice is kept in this browser; where storage is
// closed (an embedded page), it lasts as long as the page.
import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const key = "polyfs-theme";

const theme = signal<Theme>(stored());

effect(() => {
  const { dataset } = document.documentElement;
  if (theme.value === "system") delete dataset.theme;
  else dataset.theme = theme.value;
});

export function chooseTheme(next: Theme): void {
  theme.value = next;
  try {
    localStorage.setItem(key, next);
  } catch {} // a closed storage only means that the choice is not kept
}

/** The client's choice, where the page is inside of one. */
export function hostTheme(chosen: "light" | "dark"): void {
  theme.value = chosen;
}

const system = matchMedia("(prefers-color-scheme: dark)");
const isSystemDark = signal(system.matches);
system.addEventListener("change", ({ matches }) => {
  isSystemDark.value = matches;
});

export function isDark(): boolean {
  return theme.value === "dark" || (theme.value === "system" && isSystemDark.value);
}

function stored(): Theme {
  try {
    const value = localStorage.getItem(key);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    return "system";
  }
}
