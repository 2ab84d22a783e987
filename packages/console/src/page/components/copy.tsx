/** Copies text: values, paths, and the command that does in a terminal what the page does. */

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { useApp } from "../app.ts";
import { Icon } from "./icon.tsx";
import { Text, visibleText } from "./text.tsx";

export interface CopyButtonProps {
  /** A function writes a long text when it is copied, not at each drawing. */
  readonly text: string | (() => string);
  /** What is copied, such as `the value`. */
  readonly what: string;
  /** Words on the button. Without them it shows its icon alone. */
  readonly children?: string | undefined;
}

export function CopyButton({ text, what, children }: CopyButtonProps): VNode {
  const told = visibleText(what, false, true);
  const { isCopied, copy } = useCopy(text, told);
  return (
    <button
      type="button"
      class={children === undefined ? "button icon-button copy-button" : "button button-quiet"}
      aria-label={children === undefined ? `Copy ${told}` : undefined}
      title={`Copy ${told}`}
      onClick={(event) => {
        event.stopPropagation();
        copy();
      }}
    >
      <Icon name={isCopied ? "check" : "copy"} />
      {children}
    </button>
  );
}

/** A command as the person would type it. A press copies it. */
export function CopyCommand({ command }: { readonly command: string }): VNode {
  const { isCopied, copy } = useCopy(command, "the command");
  return (
    <button type="button" class="copy-command" title="Copy this command" onClick={copy}>
      <span class="visually-hidden">Copy the command </span>
      <Text of={command} exact />
      <Icon name={isCopied ? "check" : "copy"} />
    </button>
  );
}

function useCopy(
  text: CopyButtonProps["text"],
  what: string,
): { readonly isCopied: boolean; readonly copy: () => void } {
  const { announcer } = useApp();
  const [isCopied, setCopied] = useState(false);
  const copy = (): void => {
    navigator.clipboard.writeText(typeof text === "string" ? text : text()).then(
      () => {
        setCopied(true);
        announcer.say(`Copied ${what}`);
        setTimeout(() => setCopied(false), 1500);
      },
      () => announcer.failed({ message: `Could not copy ${what}: the browser does not allow it` }),
    );
  };
  return { isCopied, copy };
}
