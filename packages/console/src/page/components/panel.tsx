/** The frame of a view, and of its parts: headings, tools beside them, and a panel for details beside a list. */

import type { ComponentChildren, VNode } from "preact";
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks";
import { useApp } from "../app.ts";
import { IconButton } from "./button.tsx";
import { Text } from "./text.tsx";

export interface ViewProps {
  /** The heading, and the title of the browser's tab. */
  readonly title: string;
  /** Shown instead of the title, if it is not plain text. */
  readonly heading?: ComponentChildren;
  /** A state beside the heading. It is no part of the heading. */
  readonly status?: ComponentChildren;
  /** Controls beside the heading. */
  readonly tools?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly class?: string;
}

/** The frame of every view. In a view that another one has led to, the focus begins at its heading. */
export function View({ title, heading, status, tools, children, class: name }: ViewProps): VNode {
  const { store, router } = useApp();
  const element = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    store.viewTitle.set(title);
    store.flusher.flush();
  }, [title, store]);
  useEffect(() => {
    if (router.movesFocus) element.current?.focus({ preventScroll: true });
  }, [router]);
  return (
    <div class={`view ${name ?? ""}`}>
      <header class="view-head">
        <h1 ref={element} tabIndex={-1}>
          {heading ?? title}
        </h1>
        {status}
        {tools !== undefined && <div class="tools">{tools}</div>}
      </header>
      {children}
    </div>
  );
}

export interface SectionProps {
  readonly title: ComponentChildren;
  readonly tools?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly class?: string;
}

export function Section({ title, tools, children, class: name }: SectionProps): VNode {
  const id = useId();
  return (
    <section class={`section ${name ?? ""}`} aria-labelledby={id}>
      <div class="section-head">
        <h2 id={id}>{title}</h2>
        {tools !== undefined && <div class="tools">{tools}</div>}
      </div>
      {children}
    </section>
  );
}

/** A list with a panel for the chosen row: beside it on a wide screen, over it on a narrow one. Escape closes it. */
export function SplitView({
  children,
  panel,
}: {
  readonly children: ComponentChildren;
  readonly panel: VNode | undefined;
}): VNode {
  return (
    <div class={`split ${panel === undefined ? "" : "split-open"}`}>
      <div class="split-list">{children}</div>
      {panel}
    </div>
  );
}

export interface DetailPanelProps {
  readonly title: ComponentChildren;
  readonly label: string;
  readonly onClose: () => void;
  /** The focus key of the row that the details are of. The focus returns there. */
  readonly returnTo?: string;
  readonly tools?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function DetailPanel({ title, label, onClose, returnTo, tools, children }: DetailPanelProps): VNode {
  const element = useRef<HTMLElement>(null);
  const back = useRef(returnTo);
  back.current = returnTo;
  useLayoutEffect(
    () => () => {
      if (back.current === undefined || element.current?.contains(document.activeElement) !== true) return;
      document.querySelector<HTMLElement>(`[data-focus="${CSS.escape(back.current)}"]`)?.focus();
    },
    [],
  );
  return (
    <aside
      ref={element}
      class="detail-panel"
      aria-label={label}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.defaultPrevented) return;
        event.preventDefault();
        onClose();
      }}
    >
      <div class="section-head">
        <h2>{title}</h2>
        <div class="tools">
          {tools}
          <IconButton icon="close" label="Close the details" onPress={onClose} />
        </div>
      </div>
      <div class="detail-body">{children}</div>
    </aside>
  );
}

/** Facts as labels and values, aligned. */
export function Facts({
  rows,
}: {
  readonly rows: readonly (readonly [label: string, value: ComponentChildren] | undefined)[];
}): VNode {
  return (
    <dl class="facts">
      {rows.flatMap((row) =>
        row === undefined
          ? []
          : [
              <div key={row[0]}>
                <dt>
                  <Text of={row[0]} exact />
                </dt>
                <dd>{row[1]}</dd>
              </div>,
            ],
      )}
    </dl>
  );
}
