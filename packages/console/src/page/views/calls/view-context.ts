/** What a view (MCP Apps) learns of the page around it: colours, sizes, language. Nothing of servers or conversations. */

import type { Json } from "./content-block.tsx";

/** The page's own variable for each colour of the specification, by the part of its name after `--color-`. */
const colours: Readonly<Record<string, string>> = {
  "background-primary": "surface",
  "background-secondary": "sunken",
  "background-tertiary": "hover",
  "background-inverse": "ink",
  "background-ghost": "surface",
  "background-info": "busy-ground",
  "background-danger": "bad-ground",
  "background-success": "ok-ground",
  "background-warning": "warn-ground",
  "background-disabled": "sunken",
  "text-primary": "ink",
  "text-secondary": "ink-2",
  "text-tertiary": "ink-3",
  "text-inverse": "surface",
  "text-ghost": "ink-2",
  "text-info": "busy",
  "text-danger": "bad",
  "text-success": "ok",
  "text-warning": "warn",
  "text-disabled": "ink-3",
  "border-primary": "edge-strong",
  "border-secondary": "edge",
  "border-tertiary": "edge",
  "border-inverse": "ink",
  "border-ghost": "edge",
  "border-info": "busy",
  "border-danger": "bad",
  "border-success": "ok",
  "border-warning": "warn",
  "border-disabled": "edge",
  "ring-primary": "accent",
  "ring-secondary": "edge-control",
  "ring-inverse": "surface",
  "ring-info": "busy",
  "ring-danger": "bad",
  "ring-success": "ok",
  "ring-warning": "warn",
};

const sizes: readonly (readonly [name: string, size: number, line: number])[] = [
  ["text-xs", 11, 16],
  ["text-sm", 12, 18],
  ["text-md", 13, 20],
  ["text-lg", 16, 24],
  ["heading-xs", 12, 18],
  ["heading-sm", 13, 20],
  ["heading-md", 16, 24],
  ["heading-lg", 18, 26],
  ["heading-xl", 22, 30],
  ["heading-2xl", 26, 34],
  ["heading-3xl", 32, 40],
];

const others: Readonly<Record<string, string>> = {
  "--font-weight-normal": "400",
  "--font-weight-medium": "500",
  "--font-weight-semibold": "600",
  "--font-weight-bold": "700",
  "--border-radius-xs": "2px",
  "--border-radius-sm": "4px",
  "--border-radius-md": "6px",
  "--border-radius-lg": "8px",
  "--border-radius-xl": "12px",
  "--border-radius-full": "9999px",
  "--border-width-regular": "1px",
  "--shadow-hairline": "0 0 0 1px rgb(0 0 0 / 8%)",
  "--shadow-sm": "0 1px 2px rgb(0 0 0 / 10%)",
  "--shadow-md": "0 2px 6px rgb(0 0 0 / 14%)",
  "--shadow-lg": "0 12px 32px rgb(0 0 0 / 24%)",
};

const dark = matchMedia("(prefers-color-scheme: dark)");

export function currentTheme(): "light" | "dark" {
  const chosen = document.documentElement.dataset["theme"];
  return chosen === "dark" || (chosen !== "light" && dark.matches) ? "dark" : "light";
}

/** Calls `listener` when the page becomes light or dark. Returns the function that stops this. */
export function onTheme(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  dark.addEventListener("change", listener);
  return () => {
    observer.disconnect();
    dark.removeEventListener("change", listener);
  };
}

/** The size of a view: it has this width, and may choose its height. */
export function dimensionsOf(frame: HTMLElement): Json {
  return { width: frame.clientWidth, maxHeight: 2000 };
}

export function hostContext(frame: HTMLElement): Json {
  const { locale, timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return {
    theme: currentTheme(),
    styles: { variables: styleVariables() },
    containerDimensions: dimensionsOf(frame),
    locale,
    timeZone,
    platform: "web",
    deviceCapabilities: {
      touch: matchMedia("(any-pointer: coarse)").matches,
      hover: matchMedia("(any-hover: hover)").matches,
    },
    safeAreaInsets: { top: 0, right: 0, bottom: 0, left: 0 },
  };
}

function styleVariables(): Json {
  const style = getComputedStyle(document.documentElement);
  const own = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    ...Object.fromEntries(Object.entries(colours).map(([name, variable]) => [`--color-${name}`, own(variable)])),
    "--font-sans": own("font"),
    "--font-mono": own("mono"),
    ...Object.fromEntries(
      sizes.flatMap(([name, size, line]) => [
        [`--font-${name}-size`, `${size}px`],
        [`--font-${name}-line-height`, `${line}px`],
      ]),
    ),
    ...others,
  };
}
