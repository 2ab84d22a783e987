/** Shows how a definition differs from the accepted one: each member before and after, with what changed in it marked. */

import type { VNode } from "preact";
import type { ShownDifference } from "../../protocol/rows.ts";
import { Text } from "./text.tsx";

export function Differences({ list }: { readonly list: readonly ShownDifference[] }): VNode {
  return (
    <div class="differences">
      {list.map((difference) => (
        <Difference key={difference.member} {...difference} />
      ))}
    </div>
  );
}

function Difference({ member, before, after }: ShownDifference): VNode {
  const [same, end] = before === undefined || after === undefined ? [0, 0] : commonEnds(before, after);
  return (
    <div class="difference">
      <div class="difference-member">
        <Text of={member} exact />
        {before === undefined && <span class="muted"> was added</span>}
        {after === undefined && <span class="muted"> was removed</span>}
      </div>
      {before !== undefined && <Side sign="−" word="before" tag="del" text={before} same={same} end={end} />}
      {after !== undefined && <Side sign="+" word="after" tag="ins" text={after} same={same} end={end} />}
    </div>
  );
}

interface SideProps {
  readonly sign: string;
  readonly word: string;
  readonly tag: "del" | "ins";
  readonly text: string;
  /** How many characters both texts have in common at their beginning and at their end. */
  readonly same: number;
  readonly end: number;
}

function Side({ sign, word, tag: Tag, text, same, end }: SideProps): VNode {
  const changed = text.slice(same, text.length - end);
  return (
    <div class={`difference-side difference-${Tag}`}>
      <span class="difference-sign" aria-hidden="true">
        {sign}
      </span>
      <span class="visually-hidden">{word}: </span>
      <Tag class="difference-text">
        {same > 0 && <Text of={text.slice(0, same)} lines exact />}
        {changed !== "" && (
          <mark>
            <Text of={changed} lines exact />
          </mark>
        )}
        {end > 0 && <Text of={text.slice(text.length - end)} lines exact />}
      </Tag>
    </div>
  );
}

/** Counts equal characters at both ends, up to the boundary of a word. */
function commonEnds(before: string, after: string): readonly [begin: number, end: number] {
  const most = Math.min(before.length, after.length);
  let begin = 0;
  while (begin < most && before[begin] === after[begin]) begin += 1;
  let end = 0;
  while (end < most - begin && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  // A word that changed in part is marked whole, and no character that takes two units is split.
  while (begin > 0 && /[\p{L}\p{N}\p{M}_\ud800-\udfff]/u.test(before.charAt(begin - 1))) begin -= 1;
  while (end > 0 && /[\p{L}\p{N}\p{M}_\ud800-\udfff]/u.test(before.charAt(before.length - end))) end -= 1;
  return [begin, end];
}
