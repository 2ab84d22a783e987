/** Styles for tests: none at all, or one that can be seen in the text. */

import { type SafeText, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Style } from "../../src/output/output.ts";

const names = ["bold", "dim", "red", "green", "yellow", "cyan"] as const;

function styleWith(paint: (name: string, text: SafeText) => SafeText): Style {
  const [bold, dim, red, green, yellow, cyan] = names.map((name) => (text: SafeText) => paint(name, text));
  return { bold, dim, red, green, yellow, cyan } as Style;
}

export const plain: Style = styleWith((_, text) => text);
export const marked: Style = styleWith((name, text) => toSafeLine(`<${name}>${text}</>`));
