/** The line of a running turn, and the last line: server states, model and tokens used. */

import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { Box, Text } from "ink";
import type { ReactElement } from "react";
import { spinnerSign } from "../../output/reports/progress.ts";
import type { AppState, TurnState } from "../state/app-state.ts";
import { serverWords } from "../state/status.ts";

export interface StatusLineProps extends Pick<AppState, "servers" | "model" | "usage" | "isQuitArmed"> {
  readonly now: number;
  readonly width: number;
}

const narrow = 50;

export function StatusLine({ servers, model, usage, isQuitArmed, now, width }: StatusLineProps): ReactElement {
  if (isQuitArmed) return <Text>{safe`Ctrl-C once more to quit`}</Text>;
  const { inputTokens, outputTokens } = usage;
  const tokens = inputTokens + outputTokens === 0 ? safe`` : safe` · ${inputTokens} in ${outputTokens} out`;
  return (
    <Box width={width} justifyContent="space-between">
      <Box flexShrink={1} flexGrow={1}>
        <Text dimColor wrap="truncate-end">
          {toSafeLine(serverWords(servers, now))}
        </Text>
      </Box>
      {width >= narrow && (
        <Box flexShrink={0} marginLeft={2}>
          <Text dimColor>{safe`${toSafeLine(model.name)}${tokens}`}</Text>
        </Box>
      )}
    </Box>
  );
}

interface TurnLineProps {
  readonly turn: Extract<TurnState, { readonly kind: "running" }>;
  readonly now: number;
}

/** The line of a running turn: what it does, how long, and the key that stops it. */
export function TurnLine({ turn, now }: TurnLineProps): ReactElement {
  const seconds = Math.max(0, Math.floor((now - turn.startedAt) / 1000));
  const what = turn.isCancelling ? safe`stopping` : turn.doing === undefined ? safe`working` : toSafeLine(turn.doing);
  return (
    <Text dimColor wrap="truncate-end">
      {safe`${spinnerSign(now, 120)} ${what}, ${seconds} s (Esc stops it)`}
    </Text>
  );
}
