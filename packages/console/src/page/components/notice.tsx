/** Says that something failed, is absent or is being read, and what to do about it. */

import type { ComponentChildren, VNode } from "preact";
import type { CommandError } from "../api.ts";
import { Button } from "./button.tsx";
import { CopyCommand } from "./copy.tsx";
import { Text } from "./text.tsx";

export interface NextLineProps {
  readonly next: string;
  /** The command that does what the sentence says. */
  readonly command?: string | undefined;
}

/** The next step of a message: a command to copy, or a sentence. */
export function NextLine({ next, command }: NextLineProps): VNode {
  const whole = /^(?:run:? )?(fairlead [^\n]+)$/.exec(next)?.[1];
  const shown = whole ?? command;
  return (
    <div class="next-line">
      <span class="muted">next:</span>
      {whole === undefined && <Text of={next} lines exact />}
      {shown !== undefined && <CopyCommand command={shown} />}
    </div>
  );
}

export interface NoticeProps {
  readonly kind: "bad" | "warn" | "info";
  readonly children: ComponentChildren;
}

export function Notice({ kind, children }: NoticeProps): VNode {
  return <div class={`notice notice-${kind}`}>{children}</div>;
}

/** A command that has failed. */
export function Failure({ error, onRetry }: { readonly error: CommandError; readonly onRetry?: () => void }): VNode {
  return (
    <Notice kind="bad">
      <div>
        <Text of={error.message} lines />
        {error.next !== undefined && <NextLine next={error.next} />}
      </div>
      {onRetry !== undefined && <Button onPress={onRetry}>Try again</Button>}
    </Notice>
  );
}

/** Says that there is nothing to show, why, and how something could come to be here. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }): VNode {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** Something is being read. It appears late, so that what is read quickly does not flicker. */
export function Loading({ what }: { readonly what: string }): VNode {
  return <p class="loading">Reading {what}…</p>;
}
