/**
 * A dialog over the page, with the browser's own `<dialog>`: Escape closes it, the rest of the page cannot be reached
 * meanwhile, and the focus returns to where it was.
 */

import type { ComponentChildren, VNode } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { useLatest } from "../app.ts";
import { IconButton } from "./button.tsx";

export interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly class?: string | undefined;
  /** Hides the title, where the content says it. A screen reader still reads it. */
  readonly isBare?: boolean | undefined;
}

export function Dialog({ title, onClose, children, class: name, isBare = false }: DialogProps): VNode {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const close = useLatest(onClose);
  useLayoutEffect(() => {
    const dialog = element.current;
    if (dialog === null) return undefined;
    const before = document.activeElement;
    dialog.showModal();
    return () => {
      dialog.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={`dialog ${name ?? ""}`}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onClick={(event) => {
        // A press beside the dialog is a press on its backdrop.
        if (event.target === element.current) close();
      }}
    >
      <div class="dialog-box">
        <div class={isBare ? "visually-hidden" : "dialog-head"}>
          <h2 id={heading}>{title}</h2>
          {!isBare && <IconButton icon="close" label="Close" onPress={close} />}
        </div>
        {children}
      </div>
    </dialog>
  );
}
