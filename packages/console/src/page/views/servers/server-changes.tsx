/** The changed definitions of a server, each with its difference, and the buttons that accept them. */

import { toShellWord } from "@fairlead/core/text/shell-word";
import type { VNode } from "preact";
import type { Result } from "../../../protocol/commands.ts";
import { type Loaded, useApp } from "../../app.ts";
import { CopyCommand } from "../../components/copy.tsx";
import { AllowButton, Decision } from "../../components/decision.tsx";
import { Differences } from "../../components/differences.tsx";
import { Empty, Failure, Loading } from "../../components/notice.tsx";
import { Text } from "../../components/text.tsx";
import { counted } from "../../numbers.ts";

export interface ServerChangesProps {
  readonly name: string;
  readonly detail: Loaded<Result<"servers/show">>;
}

export function ServerChanges({ name, detail: { value, error, reload } }: ServerChangesProps): VNode {
  const { api, announcer } = useApp();
  if (error !== undefined) return <Failure error={error} onRetry={reload} />;
  if (value === undefined) return <Loading what="the changes" />;
  const { changes } = value;
  if (changes.length === 0)
    return (
      <Empty title="No definition has changed">
        <p>All definitions are as you accepted them.</p>
      </Empty>
    );
  const accept = async (tools: readonly string[]): Promise<void> => {
    await api.run("servers/accept", { server: name, tools });
    announcer.done(`Accepted ${counted(tools.length, "definition")} of ${name}`);
    reload();
  };
  const all = changes.map(({ tool }) => tool);
  return (
    <div class="server-changes">
      <p class="muted">
        Fairlead asks before each call of a changed tool, until you accept its new definition. Read what it now tells a
        model. <CopyCommand command={`fairlead mcp tools ${toShellWord(name)}`} />
      </p>
      {changes.map(({ tool, differences }) => (
        <section key={tool} class="server-change" aria-label={`Change of ${tool}`}>
          <h3>
            <Text of={tool} exact />
          </h3>
          <Differences list={differences} />
          <Decision subject={JSON.stringify(differences)} label={`Accept ${tool}`}>
            <AllowButton focusKey={`accept ${tool}`} onPress={() => accept([tool])}>
              Accept this definition
            </AllowButton>
          </Decision>
        </section>
      ))}
      {all.length > 1 && (
        <Decision subject={JSON.stringify(changes)} label="Accept all">
          <AllowButton onPress={() => accept(all)}>Accept all {all.length} definitions</AllowButton>
        </Decision>
      )}
    </div>
  );
}
