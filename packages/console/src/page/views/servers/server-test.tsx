/** Connects the server apart from the running connection, and says what each step found. */

import { toShellWord } from "@fairlead/core/text/shell-word";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Result } from "../../../protocol/commands.ts";
import { toCommandError, useApp } from "../../app.ts";
import { tookText } from "../../components/age.tsx";
import { Button } from "../../components/button.tsx";
import { CopyCommand } from "../../components/copy.tsx";
import { StateMark } from "../../components/state-mark.tsx";
import { Text } from "../../components/text.tsx";

interface Props {
  readonly name: string;
  /** Whether the test runs as soon as this is shown. */
  readonly isBegun?: boolean;
}

export function ServerTest({ name, isBegun = false }: Props): VNode {
  const { api, announcer } = useApp();
  const [steps, setSteps] = useState<Result<"servers/test">["steps"]>();
  const run = async (): Promise<void> => {
    const result = await api.run("servers/test", { server: name });
    setSteps(result.steps);
    const failed = result.steps.find(({ isOk }) => !isOk);
    announcer.say(failed === undefined ? "All steps passed" : `Failed: ${failed.label}`);
  };
  useEffect(() => {
    if (isBegun) run().catch((error: unknown) => announcer.failed(toCommandError(error)));
  }, []);
  return (
    <div class="server-test">
      <div class="tools">
        <Button icon="play" onPress={run}>
          {steps === undefined ? "Run the test" : "Run it again"}
        </Button>
        <CopyCommand command={`fairlead mcp test ${toShellWord(name)}`} />
      </div>
      <p class="muted">
        Opens a connection of its own, reads the lists, and closes it. Calls of others are not disturbed.
      </p>
      {steps !== undefined && (
        <ol class="test-steps">
          {steps.map(({ label, isOk, text, milliseconds }) => (
            <li key={label}>
              <StateMark word={isOk ? "ok" : "failed"} shape={isOk ? "check" : "cross"} tone={isOk ? "ok" : "bad"} />
              <span class="test-label">
                <Text of={label} />
              </span>
              <span>
                <Text of={text} lines exact />
                {milliseconds !== undefined && <span class="muted"> {tookText(milliseconds)}</span>}
              </span>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
