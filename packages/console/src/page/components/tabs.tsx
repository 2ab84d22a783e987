/** Tabs: several views of one thing. Arrow keys change the tab, as a screen reader expects. */

import type { ComponentChildren, VNode } from "preact";
import { useId } from "preact/hooks";

export interface Tab {
  readonly id: string;
  readonly title: ComponentChildren;
}

export interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly current: string;
  readonly onChange: (id: string) => void;
  /** The content of the current tab. */
  readonly children: ComponentChildren;
}

export function Tabs({ label, tabs, current, onChange, children }: TabsProps): VNode {
  const id = useId();
  const move = (step: number | "first" | "last", list: HTMLElement): void => {
    const at = tabs.findIndex((tab) => tab.id === current);
    const next = step === "first" ? 0 : step === "last" ? tabs.length - 1 : (at + step + tabs.length) % tabs.length;
    const tab = tabs[next];
    if (tab === undefined) return;
    onChange(tab.id);
    list.querySelectorAll<HTMLElement>("[role=tab]")[next]?.focus();
  };
  return (
    <div class="tabs">
      <div
        class="tab-list"
        role="tablist"
        aria-label={label}
        onKeyDown={(event) => {
          const step = ({ ArrowRight: 1, ArrowLeft: -1, Home: "first", End: "last" } as const)[event.key];
          if (step === undefined) return;
          event.preventDefault();
          move(step, event.currentTarget);
        }}
      >
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${id}-${tab.id}`}
            aria-selected={tab.id === current}
            aria-controls={`${id}-panel`}
            tabIndex={tab.id === current ? 0 : -1}
            onClick={() => onChange(tab.id)}
          >
            {tab.title}
          </button>
        ))}
      </div>
      <div class="tab-panel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${current}`}>
        {children}
      </div>
    </div>
  );
}
