/**
 * Shows text that a server, a client or a file has written. Such text can contain characters that hide, reverse or
 * imitate other text, so it is shown by the same rules as in the terminal (`SafeText`), as a text node, and its writing
 * direction cannot reach the text around it. Every text of others on the page goes through this component.
 */

import { toSafeLine, toSafeText, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { VNode } from "preact";
import { useState } from "preact/hooks";

export interface TextProps {
  readonly of: string;
  /** Keeps line breaks. */
  readonly lines?: boolean;
  /** Hides nothing, and marks look-alikes: for what a person decides about. */
  readonly exact?: boolean;
  /** Longer text is cut to this many characters, and the person can see the rest. */
  readonly most?: number;
  readonly class?: string;
}

export function Text({ of, lines = false, exact = false, most, class: name }: TextProps): VNode {
  const [isWhole, setWhole] = useState(false);
  const isCut = most !== undefined && of.length > most && !isWhole;
  const text = isCut ? cutAt(of, most) : of;
  return (
    <>
      <bdi class={`foreign ${lines ? "foreign-lines" : ""} ${name ?? ""}`}>{visibleText(text, lines, exact)}</bdi>
      {isCut && (
        <>
          {"… "}
          <button type="button" class="link-button" onClick={() => setWhole(true)}>
            show all {of.length.toLocaleString("en")} characters
          </button>
        </>
      )}
    </>
  );
}

/** The text as the component shows it, for titles and attributes, which cannot contain a component. */
export function visibleText(text: string, lines = false, exact = false): string {
  if (!lines) return exact ? toVisibleLine(text) : toSafeLine(text);
  return exact ? text.split("\n").map(toVisibleLine).join("\n") : toSafeText(text);
}

/** The text with the names of files instead of their paths: `a rule in fairlead.toml:3 allows it (settings.json:4)`. */
export function withoutFolders(text: string): string {
  return text.replaceAll(/(?<=^|[\s(])(?:[/~]|[A-Za-z]:\\)\S*[/\\](?=[^\s/\\])/g, "");
}

/** Cuts between two characters, not inside of one that takes two units. */
function cutAt(text: string, most: number): string {
  const code = text.charCodeAt(most - 1);
  return text.slice(0, code >= 0xd800 && code < 0xdc00 ? most - 1 : most);
}
