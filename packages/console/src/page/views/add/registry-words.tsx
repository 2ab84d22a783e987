/** What a registry says about itself and about a server, in the list and on the page of a server. */

import type { VNode } from "preact";
import type { PublishedRow, UnreachedRegistry } from "../../../protocol/adding.ts";
import { durationText } from "../../components/age.tsx";
import { Notice } from "../../components/notice.tsx";
import { StateMark } from "../../components/state-mark.tsx";
import { Text } from "../../components/text.tsx";

/** One line for a registry that cannot be reached. */
export function Unreached({ unreached: { registry, why, age } }: { readonly unreached: UnreachedRegistry }): VNode {
  return (
    <Notice kind="warn">
      <div>
        <Text of={registry} exact /> cannot be reached: <Text of={why} />
        {age === undefined ? "; nothing of it is on this machine" : `; shown as of ${durationText(age)} ago`}
      </div>
    </Notice>
  );
}

export function StatusMark({ status }: Pick<PublishedRow, "status">): VNode {
  switch (status) {
    case "active":
      return <StateMark word="active" shape="check" tone="ok" />;
    case "deprecated":
      return <StateMark word="deprecated" shape="exclamation" tone="warn" />;
    case "deleted":
      return <StateMark word="deleted" shape="cross" tone="bad" />;
  }
}
