/** Types of the table that describes all settings keys. */

/** When a key in a workspace file has an effect. In an untrusted folder, no key has one. */
export type WorkspaceRule =
  | "once the folder is trusted and the entry approved"
  | "once the folder is trusted"
  | "only to restrict further, in a trusted folder"
  | "never: set it in user or system settings"
  | "never: set it in system settings"
  | "no effect anywhere";

interface Leaf {
  readonly description: string;
  readonly workspace: WorkspaceRule;
  /** True if Fairlead expands variables (`$NAME`, `${NAME}` …) in the value. */
  readonly expanded?: true;
  readonly examples?: readonly unknown[];
  /** A sentence that says why the key has no effect. Fairlead shows it in a warning. */
  readonly ignored?: string;
}

/** A key with a string value. With `oneOf`, only these strings are allowed. */
export interface TextKey extends Leaf {
  readonly type: "text";
  readonly oneOf?: readonly string[];
  readonly format?: "url" | "https-url";
  readonly default?: string;
}
/** A key with a boolean value. */
export interface SwitchKey extends Leaf {
  readonly type: "switch";
  readonly default?: boolean;
}
/** A key with a number from `minimum` to `maximum`. */
export interface NumberKey extends Leaf {
  readonly type: "number";
  readonly minimum: number;
  readonly maximum: number;
  readonly default?: number;
}
export interface ListKey extends Leaf {
  readonly type: "list";
}
/** An object with string values. Numbers and booleans are converted to strings. */
export interface TextsKey extends Leaf {
  readonly type: "texts";
  readonly names: "environment" | "header";
}
/** An object with lists of strings. */
export interface ListsKey extends Leaf {
  readonly type: "lists";
}
/** An object of a part of Fairlead that reads and checks it itself. */
export interface SectionKey extends Leaf {
  readonly type: "section";
}
/** A key that holds a value, not further keys of the table. */
export type LeafKey = TextKey | SwitchKey | NumberKey | ListKey | TextsKey | ListsKey | SectionKey;

type More<K extends LeafKey> = Omit<K, "type" | "workspace" | "description">;

/** Creates a row of the table whose value is a string. */
export function textKey(workspace: WorkspaceRule, description: string, more: More<TextKey> = {}): TextKey {
  return { type: "text", workspace, description, ...more };
}

/** Creates a row of the table whose value is a boolean. */
export function switchKey(workspace: WorkspaceRule, description: string, more: More<SwitchKey> = {}): SwitchKey {
  return { type: "switch", workspace, description, ...more };
}

/** Creates a row of the table whose value is a number. */
export function numberKey(workspace: WorkspaceRule, description: string, more: More<NumberKey>): NumberKey {
  return { type: "number", workspace, description, ...more };
}

/** Creates a row of the table whose value is a list of strings. */
export function listKey(workspace: WorkspaceRule, description: string, more: More<ListKey> = {}): ListKey {
  return { type: "list", workspace, description, ...more };
}

/** An object whose keys the table lists. */
export interface ObjectKey {
  readonly type: "object";
  readonly description: string;
  readonly properties: Readonly<Record<string, SettingsKey>>;
  /** The object must have exactly one of these keys. */
  readonly exactlyOneOf?: readonly string[];
  /** Describes a single value that the user may write instead of the object. */
  readonly instead?: LeafKey;
  /** The name of the property that a number written instead of the object sets. */
  readonly insteadSets?: string;
  /** True if unknown keys are allowed. Other programs store their own keys in this object. */
  readonly shared?: true;
}
/** An object whose keys are names that the user chooses. */
export interface NamedKey {
  readonly type: "named";
  readonly description: string;
  readonly placeholder: string;
  readonly each: ObjectKey;
}
/** Any row of the table: a single value, or an object with further keys. */
export type SettingsKey = LeafKey | ObjectKey | NamedKey;

/** The longest time that a timer supports, in milliseconds. */
export const longestTime = 2_147_483_647;
