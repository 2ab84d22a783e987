/** Light, dark, or as the system has it. The choice is kept in this browser; it is no secret. */

export type Theme = "light" | "dark" | "system";

const key = "fairlead theme";

export function readTheme(): Theme {
  const stored = localStorage.getItem(key);
  return stored === "light" || stored === "dark" ? stored : "system";
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(key, theme);
  applyTheme(theme);
}

/** Sets what `color-scheme` in tokens.css follows. */
export function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}
