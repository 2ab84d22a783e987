/**
 * The buttons of a decision. They are dead for half a second after they appear or move, so that a press meant for
 * something else decides nothing. None of them is chosen in advance, and the Enter key, which is pressed by habit, does
 * not press those that allow something.
 */

import { type ComponentChildren, createContext, type VNode } from "preact";
import { useContext, useRef } from "preact/hooks";
import { useApp } from "../app.ts";
import { Button, type ButtonProps } from "./button.tsx";
import { type Settled, useSettled } from "./settled.ts";

const SettledContext = createContext<Settled>({ isSettled: false, isReady: () => false });

export interface DecisionProps {
  /** What the buttons decide about. With another subject they are dead again. */
  readonly subject: string;
  readonly label: string;
  readonly children: ComponentChildren;
}

/** The buttons of one decision. */
export function Decision({ subject, label, children }: DecisionProps): VNode {
  const box = useRef<HTMLDivElement>(null);
  const settled = useSettled(box, subject);
  return (
    <SettledContext.Provider value={settled}>
      <div ref={box} class={`decision ${settled.isSettled ? "decision-ready" : ""}`} role="group" aria-label={label}>
        {children}
      </div>
    </SettledContext.Provider>
  );
}

type DecisionButtonProps = Omit<ButtonProps, "disabledBecause" | "type">;

/** A button that refuses, or decides nothing by itself. It stands in a `Decision`. */
export function DecisionButton({ onPress, children, ...others }: DecisionButtonProps): VNode {
  const { isSettled, isReady } = useContext(SettledContext);
  return (
    <Button
      {...others}
      disabledBecause={isSettled ? undefined : "dead for half a second, because it has just appeared"}
      onPress={() => (isReady() ? onPress() : undefined)}
    >
      {children}
    </Button>
  );
}

/** A button that allows something. It stands in a `Decision`. */
export function AllowButton({ children, ...others }: DecisionButtonProps): VNode {
  const { announcer } = useApp();
  return (
    // The key is stopped before the button makes a press of it.
    <div
      class="allow"
      role="presentation"
      onKeyDown={(event) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        announcer.say("Enter does not press this button. Press the space bar.");
      }}
    >
      <DecisionButton {...others}>{children}</DecisionButton>
    </div>
  );
}
