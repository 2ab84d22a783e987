/** What the rules say about a call, as a word with a shape. */

import type { VNode } from "preact";
import { type State, StateMark } from "../../components/state-mark.tsx";

const states: Readonly<Record<"allow" | "ask" | "deny", State>> = {
  allow: { word: "allowed", shape: "check", tone: "ok" },
  ask: { word: "asks", shape: "question", tone: "warn" },
  deny: { word: "denied", shape: "dash", tone: "bad" },
};

/** What a rule says, in the words of the policy files and of `fairlead policy`. */
export function RuleMark({ decision }: { readonly decision: keyof typeof states }): VNode {
  return <StateMark {...states[decision]} word={decision} />;
}

export interface DecisionMarkProps {
  readonly decision: keyof typeof states;
  readonly isChanged?: boolean;
  /** Why the tool is not offered, in a word or two. */
  readonly hidden?: string | undefined;
}

export function DecisionMark({ decision, isChanged = false, hidden }: DecisionMarkProps): VNode {
  if (hidden !== undefined) return <StateMark word={hidden} shape="ring" tone="idle" />;
  if (isChanged && decision !== "deny") return <StateMark word="changed" shape="triangle" tone="change" />;
  return <StateMark {...states[decision]} />;
}
