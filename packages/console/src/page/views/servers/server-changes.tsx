/** The changed definitions of a server, each with its difference, and the buttons that accept them. */

import { toShellWord } from "@fairlead/core/text/shell-word";
import type { VNode } from "preact";
import type { Params, Result } from "../../../protocol/commands.ts";
import type { ChangedDefinition } from "../../../protocol/servers.ts";
import { type Loaded, useApp } from "../../app.ts";
import { CopyCommand } from "../../components/copy.tsx";
import { AllowButton, Decision } from "../../components/decision.tsx";
import { Differences } from "../../components/differences.tsx";
import { Empty, Failure, Loading } from "../../components/notice.tsx";
import { Text, visibleText } from "../../components/text.tsx";
import { counted } from "../../numbers.ts";

export interface ServerChangesProps {
  readonly name: string;
  readonly detail: Loaded<Result<"servers/show">>;
}

type AcceptedTool = Params<"servers/accept">["tools"][number];

/** The definition that the person has seen: another one by now is not accepted. */
function toAccepted({ name, digest }: ChangedDefinition): readonly AcceptedTool[] {
  return digest === undefined ? [] : [{ name, digest }];
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
  const accept = async (tools: readonly AcceptedTool[]): Promise<void> => {
    await api.run("servers/accept", { server: name, tools });
    announcer.done(`Accepted ${counted(tools.length, "definition")} of ${name}`);
    reload();
  };
  const all = changes.flatMap(toAccepted);
  return (
    <div class="server-changes">
      <p class="muted">
        Fairlead asks before each call of a changed tool, until you accept its new definition. Read what it now tells a
        model. <CopyCommand command={`fairlead mcp tools ${toShellWord(name)}`} />
      </p>
      {changes.map((change) => (
        <section
          key={`${change.kind} ${change.name}`}
          class="server-change"
          aria-label={`Change of the ${change.kind} ${visibleText(change.name)}`}
        >
          <h2>
            <Text of={change.name} exact /> {change.kind === "prompt" && <span class="muted">prompt</span>}
          </h2>
          <Differences list={change.differences} />
          {change.digest === undefined ? (
            <p class="muted">
              The lock file has another definition.{" "}
              <CopyCommand command={`fairlead lock update ${toShellWord(name)}`} />
            </p>
          ) : (
            <Decision subject={change.digest} label={`Accept ${change.name}`}>
              <AllowButton focusKey={`accept ${change.name}`} onPress={() => accept(toAccepted(change))}>
                Accept this definition
              </AllowButton>
            </Decision>
          )}
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
