/**
 * A JSON value as a tree. Only what is open exists, so a large value opens quickly, and a long text is cut until the
 * person wants all of it. Each value and each path can be copied.
 */

import { toSafeJson } from "@fairlead/core/text/safe-text";
import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { CopyButton } from "./copy.tsx";
import { Icon } from "./icon.tsx";
import { Text, visibleText } from "./text.tsx";

export interface JsonTreeProps {
  readonly value: unknown;
  /** What the tree shows, for a screen reader. */
  readonly label: string;
  /** The levels that are open at first. Default: 2. */
  readonly openLevels?: number;
  /** Shows every character, and marks look-alikes: for what a person decides about. */
  readonly isExact?: boolean;
}

/** A longer text is cut, with the number of its characters. */
const longText = 2000;
/** Members of one object or list that are shown at once. */
const step = 200;
/** About this many members are open at first. */
const mostOpen = 1000;

export function JsonTree({ value, label, openLevels: wanted = 2, isExact = false }: JsonTreeProps): VNode {
  const openLevels = useMemo(() => openLevelsOf(value, wanted), [value, wanted]);
  return (
    <div class="json-tree" role="group" aria-label={label}>
      <Member name={undefined} value={value} path="" level={0} openLevels={openLevels} isExact={isExact} />
    </div>
  );
}

/** The levels that can be open at first: hundreds of lists in each of hundreds of lists would hold up the page. */
function openLevelsOf(value: unknown, wanted: number): number {
  let level = [value];
  let count = 0;
  for (let depth = 0; depth < wanted; depth += 1) {
    level = level.flatMap((one) => (membersOf(one) ?? []).slice(0, step).map(([, member]) => member));
    count += level.length;
    if (count > mostOpen) return Math.max(1, depth);
    if (level.length === 0) break;
  }
  return wanted;
}

interface MemberProps {
  /** Undefined for the whole value. */
  readonly name: string | number | undefined;
  readonly value: unknown;
  readonly path: string;
  readonly level: number;
  readonly openLevels: number;
  readonly isExact: boolean;
}

function Member(props: MemberProps): VNode {
  const { name, value, path, level, openLevels, isExact } = props;
  const [isOpen, setOpen] = useState(level < openLevels);
  const [shown, setShown] = useState(step);
  const members = membersOf(value);
  const isList = Array.isArray(value);
  const key = name !== undefined && <Key name={name} isExact={isExact} />;
  const tools = <MemberTools value={value} path={path} />;
  if (members === undefined || members.length === 0)
    return (
      <div class="json-line">
        <span class="json-content">
          {key}
          <Value value={value} isExact={isExact} />
        </span>
        {tools}
      </div>
    );
  const summary = isList ? `[ ${countText(members.length, "item")} ]` : `{ ${countText(members.length, "member")} }`;
  return (
    <div class="json-member">
      <div class="json-line">
        <button
          type="button"
          class="json-toggle"
          aria-expanded={isOpen}
          aria-label={`${name === undefined ? "the whole value" : visibleText(String(name))}: ${summary}`}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? "down" : "right"} />
        </button>
        <span class="json-content">
          {key}
          <span class="json-summary">{isOpen ? (isList ? "[" : "{") : summary}</span>
        </span>
        {tools}
      </div>
      {isOpen && (
        <div class="json-children">
          {members.slice(0, shown).map(([memberName, member]) => (
            <Member
              key={memberName}
              name={memberName}
              value={member}
              path={`${path}${pathPart(memberName)}`}
              level={level + 1}
              openLevels={openLevels}
              isExact={isExact}
            />
          ))}
          {members.length > shown && (
            <button type="button" class="link-button" onClick={() => setShown(shown + step)}>
              show {Math.min(step, members.length - shown)} more of {members.length - shown}
            </button>
          )}
          <div class="json-summary">{isList ? "]" : "}"}</div>
        </div>
      )}
    </div>
  );
}

function Key({ name, isExact }: { readonly name: string | number; readonly isExact: boolean }): VNode {
  return (
    <span class="json-key">
      <Text of={String(name)} exact={isExact} />:{" "}
    </span>
  );
}

function Value({ value, isExact }: { readonly value: unknown; readonly isExact: boolean }): VNode {
  if (typeof value === "string")
    return (
      <span class="json-string">
        "<Text of={value} lines exact={isExact} most={longText} />"
      </span>
    );
  const kind = value === null ? "null" : Array.isArray(value) ? "empty" : typeof value;
  const text = Array.isArray(value) ? "[]" : typeof value === "object" && value !== null ? "{}" : String(value);
  return <span class={`json-${kind}`}>{text}</span>;
}

function MemberTools({ value, path }: { readonly value: unknown; readonly path: string }): VNode {
  const at = path === "" ? "the whole value" : path;
  return (
    <span class="json-tools">
      <CopyButton what={`the value of ${at}`} text={typeof value === "string" ? value : () => toSafeJson(value)} />
      {path !== "" && (
        <CopyButton what={`the path ${at}`} text={path}>
          path
        </CopyButton>
      )}
    </span>
  );
}

/** Returns the members of an object or a list; undefined for any other value. */
function membersOf(value: unknown): readonly (readonly [string | number, unknown])[] | undefined {
  if (Array.isArray(value)) return value.map((member, index) => [index, member] as const);
  return typeof value === "object" && value !== null ? Object.entries(value) : undefined;
}

/** Writes a step of a path as `jq` takes it: `.name`, `[0]` or `."two words"`. */
function pathPart(name: string | number): string {
  if (typeof name === "number") return `[${name}]`;
  return /^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `.${JSON.stringify(name)}`;
}

function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
