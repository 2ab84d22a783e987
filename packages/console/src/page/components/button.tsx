/**
 * Buttons. A button whose action takes time is busy until it ends, and a second press does nothing. If the action fails,
 * the page says why and what to do. A button that cannot be used stays focusable, so that the keyboard finds the reason.
 */

import type { ComponentChildren, VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import { toCommandError, useApp } from "../app.ts";
import { Icon, type IconName } from "./icon.tsx";
import { visibleText } from "./text.tsx";

export interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onPress: () => unknown;
  readonly kind?: "plain" | "primary" | "danger" | "quiet";
  readonly icon?: IconName;
  /** Why the button cannot be used now. It then stays visible and says this. */
  readonly disabledBecause?: string | undefined;
  readonly isPressed?: boolean | undefined;
  readonly isExpanded?: boolean | undefined;
  /** Says more than the words of the button, such as which server they mean. */
  readonly label?: string | undefined;
  readonly type?: "button" | "submit";
  readonly class?: string | undefined;
  /** Keeps the focus on this button if its row is drawn anew. */
  readonly focusKey?: string | undefined;
}

export function Button(props: ButtonProps): VNode {
  const { children, kind = "plain", icon, disabledBecause, label, type = "button", focusKey } = props;
  const { press, isBusy } = usePress(props.onPress);
  const isOff = disabledBecause !== undefined;
  return (
    <button
      type={type}
      class={`button button-${kind} ${props.class ?? ""}`}
      aria-label={label === undefined ? undefined : visibleText(label)}
      aria-pressed={props.isPressed}
      aria-expanded={props.isExpanded}
      aria-disabled={isOff || isBusy ? true : undefined}
      aria-busy={isBusy || undefined}
      title={disabledBecause}
      data-focus={focusKey}
      onClick={(event) => {
        event.stopPropagation();
        if (!isOff) press();
      }}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}

export interface IconButtonProps {
  readonly icon: IconName;
  /** What the button does: its only name, and its tooltip. */
  readonly label: string;
  readonly onPress: () => unknown;
  readonly isPressed?: boolean | undefined;
  readonly class?: string | undefined;
}

export function IconButton({ icon, label, onPress, isPressed, class: name }: IconButtonProps): VNode {
  const { press, isBusy } = usePress(onPress);
  return (
    <button
      type="button"
      class={`button icon-button ${name ?? ""}`}
      aria-label={visibleText(label)}
      aria-pressed={isPressed}
      aria-busy={isBusy || undefined}
      title={visibleText(label)}
      onClick={(event) => {
        event.stopPropagation();
        press();
      }}
    >
      <Icon name={icon} />
    </button>
  );
}

function usePress(onPress: () => unknown): { readonly press: () => void; readonly isBusy: boolean } {
  const { announcer } = useApp();
  const [isBusy, setBusy] = useState(false);
  // The state of the drawing is too late for a double click.
  const running = useRef(false);
  const press = (): void => {
    if (running.current) return;
    const outcome = onPress();
    if (!(outcome instanceof Promise)) return;
    running.current = true;
    setBusy(true);
    outcome
      .catch((error: unknown) => announcer.failed(toCommandError(error)))
      .finally(() => {
        running.current = false;
        setBusy(false);
      });
  };
  return { press, isBusy };
}
