/** The line of a running turn: what it does, how long, and the key that stops it. */

import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { Text } from "ink";
import type { ReactElement } from "react";
import type { TurnState } from "../state/app-state.ts";

export interface TurnLineProps {
  readonly turn: Extract<TurnState, { readonly kind: "running" }>;
  readonly now: number;
}

const spinner = [safe`⠋`, safe`⠙`, safe`⠹`, safe`⠸`, safe`⠼`, safe`⠴`, safe`⠦`, safe`⠧`, safe`⠇`, safe`⠏`];
const frame = 120;

export function TurnLine({ turn, now }: TurnLineProps): ReactElement {
  const seconds = Math.max(0, Math.floor((now - turn.startedAt) / 1000));
  const what = turn.isCancelling ? safe`stopping` : turn.doing === undefined ? safe`working` : toSafeLine(turn.doing);
  const sign = spinner[Math.floor(now / frame) % spinner.length] ?? safe` `;
  return (
    <Text dimColor wrap="truncate-end">
      {safe`${sign} ${what}, ${seconds} s (Esc stops it)`}
    </Text>
  );
}
